"""A new key: every secret under it, in one transaction, and none lost wherever a process dies."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sidekeep.model.errors import NotFound, StorageFull, VaultLocked
from sidekeep.model.places import Places
from sidekeep.store import secrets
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx
from sidekeep.vault import Vault, sealed
from sidekeep.vault.record import load
from sidekeep.vault.resealing import rekey, settle

VALUES = {"openai": "sk-canary-1", "anthropic": "sk-canary-2", "Ω": "sk-canary-3"}

DYING = """
import os, sys
from contextlib import closing
from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.vault import Vault, passphrase
from sidekeep.vault.resealing import rekey

places, steps = Places(sys.argv[1]), int(sys.argv[2])
with closing(open_store(places)) as store:
    doorway = Doorway(store)
    left = steps

    def die(event, arguments):
        global left
        if event in ("open", "os.rename", "os.remove"):
            left -= 1
            if left < 0:
                os._exit(9)

    sys.addaudithook(die)
    after = doorway.run(lambda tx: rekey(tx, Vault(places), None))
    after()
    os._exit(0)
"""


def fill(doorway: Doorway, vault: Vault) -> None:
    for name, value in VALUES.items():
        doorway.run(lambda tx, name=name, value=value: secrets.put(tx, name, vault.seal(name, value)) or True)


def opened(doorway: Doorway, vault: Vault) -> dict[str, str]:
    return {name: vault.open(name, secret) for name, secret in doorway.run(secrets.all_sealed)}


def keys_in_use(doorway: Doorway) -> set[str]:
    return {sealed.key_of(secret) for _, secret in doorway.run(secrets.all_sealed)}


@pytest.mark.parametrize("words", [None, "open sesame"])
def test_everything_is_under_the_new_key(places: Places, vault: Vault, doorway: Doorway, words: str | None) -> None:
    """After `rekey` each value is the same, its age too, all under one new key; the old key is nowhere."""
    fill(doorway, vault)
    (old,) = vault.keys()
    ages = doorway.run(secrets.listing)
    doorway.run(lambda tx: rekey(tx, vault, words))()
    (new,) = vault.keys()
    assert new != old
    assert keys_in_use(doorway) == {new}
    assert opened(doorway, vault) == VALUES
    assert doorway.run(secrets.listing) == ages
    assert [path.name for path in Path(places.state).rglob("*.key")] == ([f"{new}.key"] if words is None else [])
    assert vault.status() == {"locked": False, "place": "file" if words is None else "passphrase"}


def test_from_passphrase_to_passphrase(vault: Vault, doorway: Doorway) -> None:
    """The new passphrase opens, the old one does not; while locked there is no `rekey`."""
    fill(doorway, vault)
    doorway.run(lambda tx: rekey(tx, vault, "first"))()
    vault.lock()
    with pytest.raises(VaultLocked):
        doorway.run(lambda tx: rekey(tx, vault, "second"))
    assert len(vault.keys()) == 1
    vault.unlock("first")
    doorway.run(lambda tx: rekey(tx, vault, "second"))()
    vault.lock()
    with pytest.raises(VaultLocked):
        vault.unlock("first")
    vault.unlock("second")
    assert opened(doorway, vault) == VALUES


def test_a_transaction_that_fails(vault: Vault, doorway: Doorway) -> None:
    """When the store refuses, the new key is withdrawn: nothing has changed."""
    fill(doorway, vault)
    before = vault.keys()

    class Full(Tx):
        __slots__ = ()

        def run(self, statement: str, bindings: object = ()) -> None:
            raise StorageFull("No room.")

    with pytest.raises(StorageFull):
        doorway.run(lambda tx: rekey(Full(tx._db, tx.now, tx.new_id), vault, "words"))
    assert vault.keys() == before
    assert opened(doorway, vault) == VALUES


def test_death_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before any of its file operations: every secret opens, others can be sealed, the next process ends it."""
    monkeypatch.setenv("SIDEKEEP_VAULT", "file")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    deaths = 0
    while True:
        places = Places(str(tmp_path / f"state{deaths}")).make()
        vault = Vault(places)
        with closing(open_store(places)) as store:
            fill(Doorway(store), vault)
        status = subprocess.run([sys.executable, "-c", DYING, places.state, str(deaths)], check=False).returncode
        with closing(open_store(places)) as store:
            doorway = Doorway(store)
            assert opened(doorway, vault) == VALUES, f"after {deaths} steps"
            doorway.run(lambda tx, vault=vault: secrets.put(tx, "new", vault.seal("new", "x")) or True)
            after = doorway.run(lambda tx, vault=vault: settle(tx, vault) or (lambda: None))
            after()
            assert keys_in_use(doorway) == set(vault.keys())
            doorway.run(lambda tx, vault=vault: rekey(tx, vault))()
            assert opened(doorway, vault) == {**VALUES, "new": "x"}
            assert keys_in_use(doorway) == set(vault.keys())
        record = load(places)
        assert record is not None
        assert len(record.keys) == 1
        assert [path.stem for path in Path(places.state).rglob("*.key")] == [record.sealing.id]
        if status == 0:
            break
        assert status == 9
        deaths += 1
    assert deaths >= 8, "the sweep has to reach the record, the key file and the removal"


def test_what_no_key_opens_stays(vault: Vault, doorway: Doorway) -> None:
    """A damaged value does not keep the others from a new key, and is still said to be unreadable."""
    fill(doorway, vault)
    foreign = sealed.seal(sealed.new_key(), "lost", "x")
    doorway.run(lambda tx: secrets.put(tx, "lost", foreign) or True)
    doorway.run(lambda tx: secrets.put(tx, "torn", b"torn") or True)
    doorway.run(lambda tx: rekey(tx, vault))()
    kept = dict(doorway.run(secrets.all_sealed))
    assert (kept["lost"], kept["torn"]) == (foreign, b"torn")
    assert {name: vault.open(name, kept[name]) for name in VALUES} == VALUES
    with pytest.raises(NotFound):
        vault.open("lost", kept["lost"])


def test_a_reader_that_comes_between(vault: Vault, doorway: Doorway) -> None:
    """Ciphertext read just before a `rekey` is refused as retryable afterwards: read again, it opens."""
    fill(doorway, vault)
    earlier = dict(doorway.run(secrets.all_sealed))["openai"]
    doorway.run(lambda tx: rekey(tx, vault))()
    with pytest.raises(VaultLocked, match="try again"):
        vault.open("openai", earlier)


def test_the_way_out_of_a_lost_key(places: Places, vault: Vault, doorway: Doorway) -> None:
    """With the key gone `rekey` is refused while a secret hangs on it, and makes a new key once none does."""
    fill(doorway, vault)
    os.unlink(next(Path(places.vault).glob("*.key")))
    with pytest.raises(VaultLocked):
        doorway.run(lambda tx: rekey(tx, vault))
    for name in VALUES:
        doorway.run(lambda tx, name=name: secrets.delete(tx, name) or True)
    doorway.run(lambda tx: rekey(tx, vault))()
    fill(doorway, vault)
    assert opened(doorway, vault) == VALUES
