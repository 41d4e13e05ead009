"""What a sealed secret is: unreadable without its key, its name, and every one of its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekeep.vault import sealed

KEY = sealed.new_key()


@given(name=st.text(min_size=1), value=st.text())
def test_any_text_comes_back(name: str, value: str) -> None:
    """Sealing and opening under the same key and name gives the same text, whatever characters are in it."""
    assert sealed.open_sealed(KEY, name, sealed.seal(KEY, name, value)) == value


def test_every_byte_counts() -> None:
    """One flipped bit anywhere, or a byte less at the end, and it does not open."""
    secret = sealed.seal(KEY, "openai", "sk-canary")
    for at in range(len(secret)):
        changed = bytearray(secret)
        changed[at] ^= 1
        with pytest.raises(sealed.Unreadable):
            sealed.open_sealed(KEY, "openai", bytes(changed))
        with pytest.raises(sealed.Unreadable):
            sealed.open_sealed(KEY, "openai", secret[:at])


def test_the_name_is_bound() -> None:
    """Ciphertext moved under another name does not open there."""
    with pytest.raises(sealed.Unreadable):
        sealed.open_sealed(KEY, "anthropic", sealed.seal(KEY, "openai", "sk-canary"))


def test_another_key_does_not_open() -> None:
    """Under another key it does not open, and the sealed bytes name the key that would."""
    secret = sealed.seal(KEY, "openai", "sk-canary")
    assert sealed.key_of(secret) == sealed.id_of(KEY)
    with pytest.raises(sealed.Unreadable):
        sealed.open_sealed(sealed.new_key(), "openai", secret)


def test_never_the_same_twice() -> None:
    """Equal values cannot be told from different ones, and nothing of the value is in the bytes."""
    one, two = (sealed.seal(KEY, "openai", "sk-canary") for _ in range(2))
    assert one != two
    assert b"canary" not in one
