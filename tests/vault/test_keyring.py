"""The OS keyring as the key's place, through the real keyring library, against a Secret Service on a socket."""

import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sidekeep.model.errors import VaultLocked
from sidekeep.model.places import Places
from sidekeep.store import secrets
from sidekeep.store.doorway import Doorway
from sidekeep.vault import Vault, keyring_door, sealed
from sidekeep.vault import vault as vault_module
from sidekeep.vault.resealing import rekey
from vault.secretservice import SecretService


@pytest.fixture
def service(places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretService]:
    monkeypatch.delenv("SIDEKEEP_VAULT")
    with closing(SecretService(tmp_path)) as found:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", found.address)
        yield found


def _as_another_process() -> None:
    """Forget what this process has had from the keyring."""
    vault_module._from_keyring.clear()
    vault_module._keyring_failed.clear()


def test_the_key_is_in_the_keyring_alone(places: Places, service: SecretService) -> None:
    """With a keyring the first secret's key goes there; no file holds it, and another process finds it there."""
    secret = Vault(places).seal("openai", "sk-canary")
    assert Vault(places).status() == {"locked": False, "place": "keyring"}
    assert len(service.items) == 1
    assert list(Path(places.state).parent.rglob("*.key")) == []
    _as_another_process()
    assert Vault(places).open("openai", secret) == "sk-canary"
    asked = service.connections
    assert Vault(places).open("openai", secret) == "sk-canary"
    assert service.connections == asked, "a key that was had is not asked for again"


def test_a_keyring_that_is_locked(places: Places, service: SecretService) -> None:
    """Its dialog is not answered: `vault_locked` within the deadline, no second key; unlocked, all goes on."""
    secret = Vault(places).seal("openai", "sk-canary")
    _as_another_process()
    service.locked = True
    started = time.monotonic()
    with pytest.raises(VaultLocked, match="keyring"):
        Vault(places).open("openai", secret)
    assert time.monotonic() - started < keyring_door.PATIENCE + 2
    with pytest.raises(VaultLocked):
        Vault(places).seal("other", "x")
    assert len(service.items) == 1
    assert list(Path(places.state).rglob("*.key")) == []
    service.locked = False
    Vault(places).unlock(patience=keyring_door.LONG_PATIENCE)
    assert Vault(places).open("openai", secret) == "sk-canary"


def test_unlocked_for_processes_that_reach_no_keyring(
    places: Places, service: SecretService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`unlock` where the keyring is in reach puts the key where a process without a session bus finds it."""
    secret = Vault(places).seal("openai", "sk-canary")
    Vault(places).unlock()
    _as_another_process()
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    assert Vault(places).open("openai", secret) == "sk-canary"
    Vault(places).lock()
    with pytest.raises(VaultLocked):
        Vault(places).open("openai", secret)


def test_a_new_key_replaces_the_old_one_there(places: Places, service: SecretService, doorway: Doorway) -> None:
    """After `rekey` the keyring holds the new key only; with a passphrase it holds none."""
    vault = Vault(places)
    doorway.run(lambda tx: secrets.put(tx, "openai", vault.seal("openai", "sk-canary")) or True)
    (old,) = service.items.values()
    doorway.run(lambda tx: rekey(tx, vault))()
    (new,) = service.items.values()
    assert new != old
    doorway.run(lambda tx: rekey(tx, vault, "open sesame"))()
    assert service.items == {}
    ((name, secret),) = doorway.run(secrets.all_sealed)
    assert vault.open(name, secret) == "sk-canary"


def test_another_key_in_the_keyring(places: Places, service: SecretService) -> None:
    """A key that is not the recorded one is refused: nothing is sealed under it."""
    Vault(places).seal("openai", "sk-canary")
    _as_another_process()
    ((path, (attributes, _)),) = service.items.items()
    service.items[path] = (attributes, b64encode(sealed.new_key()))
    with pytest.raises(VaultLocked, match="another key"):
        Vault(places).seal("openai", "sk-other")
