"""Locking and unlocking: who has the key, and for how long."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sidekeep.model.errors import InvalidCommand, VaultLocked
from sidekeep.model.places import Places
from sidekeep.vault import Vault

OPEN = """
import sys
from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.vault import Vault
try:
    print(Vault(Places(sys.argv[1])).open("openai", bytes.fromhex(sys.argv[2])))
except SidekeepError as error:
    print(error.code)
"""


def elsewhere(places: Places, secret: bytes) -> str:
    """What another process gets."""
    return subprocess.check_output([sys.executable, "-c", OPEN, places.state, secret.hex()], text=True).strip()


def test_a_passphrase_opens_for_every_process(places: Places, vault: Vault) -> None:
    """After `unlock` any process of the session has the key, by a 0600 file in the runtime folder; `lock` takes it."""
    vault.add_key("open sesame")
    secret = vault.seal("openai", "sk-canary")
    assert elsewhere(places, secret) == "sk-canary"
    vault.lock()
    assert list(Path(places.runtime).glob("*.key")) == []
    assert elsewhere(places, secret) == "vault_locked"
    assert vault.status() == {"locked": True, "place": "passphrase"}
    with pytest.raises(VaultLocked, match="passphrase"):
        vault.unlock()
    with pytest.raises(VaultLocked, match="Wrong"):
        vault.unlock("open sesam")
    assert elsewhere(places, secret) == "vault_locked"
    vault.unlock("open sesame")
    (path,) = Path(places.runtime).glob("*.key")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert elsewhere(places, secret) == "sk-canary"


def test_the_end_of_the_session(places: Places, vault: Vault) -> None:
    """When the runtime folder is gone, as after a restart of the machine, the passphrase is asked for again."""
    vault.add_key("open sesame")
    secret = vault.seal("openai", "sk-canary")
    for path in Path(places.runtime).iterdir():
        path.unlink()
    assert vault.status() == {"locked": True, "place": "passphrase"}
    with pytest.raises(VaultLocked):
        vault.open("openai", secret)
    with pytest.raises(VaultLocked):
        vault.seal("openai", "sk-other")
    vault.unlock("open sesame")
    assert vault.open("openai", secret) == "sk-canary"


def test_a_key_file_can_be_locked_too(places: Places, vault: Vault) -> None:
    """`lock` holds for every place, until `unlock`, also for a process that starts later."""
    secret = vault.seal("openai", "sk-canary")
    vault.lock()
    assert elsewhere(places, secret) == "vault_locked"
    assert vault.status() == {"locked": True, "place": "file"}
    with pytest.raises(VaultLocked):
        vault.seal("openai", "sk-other")
    vault.unlock()
    assert elsewhere(places, secret) == "sk-canary"


def test_the_same_words_from_another_keyboard(vault: Vault) -> None:
    """A passphrase typed with composed letters opens what was set with decomposed ones."""
    vault.add_key("cafe\u0301")
    secret = vault.seal("openai", "sk-canary")
    vault.lock()
    vault.unlock("caf\u00e9")
    assert vault.open("openai", secret) == "sk-canary"


def test_an_empty_passphrase(places: Places, vault: Vault) -> None:
    """It would guard nothing; refused, and nothing is made."""
    with pytest.raises(InvalidCommand):
        vault.add_key("")
    assert os.listdir(places.vault) == []


def test_nothing_to_lock(vault: Vault) -> None:
    """Before the first secret there is nothing to lock or unlock."""
    vault.lock()
    vault.unlock("anything")
    assert vault.status() == {"locked": False, "place": "none"}
