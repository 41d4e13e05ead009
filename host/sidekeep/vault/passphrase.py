"""A passphrase as the place of a key: scrypt makes the key that wraps it."""

import os

from sidekeep.vault import sealed
from sidekeep.vault.record import Key, Scrypt, Wrapped

#: 128 MiB and a third of a second for each guess (OWASP's first choice for scrypt).
_N, _R, _P = 2**17, 8, 1
_SALT_BYTES = 16


def guarded(key: bytes, passphrase: str) -> Key:
    """The record's entry for a key that only this passphrase opens."""
    kdf = Scrypt(os.urandom(_SALT_BYTES), _N, _R, _P)
    return Key(sealed.id_of(key), "passphrase", Wrapped(kdf, sealed.wrap(_stretched(kdf, passphrase), key)))


def opened(entry: Key, passphrase: str) -> bytes | None:
    """The key, or None for a wrong passphrase."""
    assert entry.wrapped is not None
    try:
        return sealed.unwrap(_stretched(entry.wrapped.kdf, passphrase), entry.wrapped.key)
    except sealed.Unreadable:
        return None


def _stretched(kdf: Scrypt, passphrase: str) -> bytes:
    from unicodedata import normalize  # the same words, whichever keyboard typed them

    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt as Kdf

    return Kdf(salt=kdf.salt, length=sealed.KEY_BYTES, n=kdf.n, r=kdf.r, p=kdf.p).derive(
        normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    )
