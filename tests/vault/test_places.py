"""Where the key lies: chosen once, recorded, never a second one beside it."""

import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from sidekeep.model.errors import NotFound, VaultLocked
from sidekeep.model.places import Places
from sidekeep.vault import Vault, keyring_door, sealed
from sidekeep.vault.record import VERSION, Key, Record, key_file, load, save

SEAL = """
import sys
from sidekeep.model.places import Places
from sidekeep.vault import Vault
sys.stdin.readline()
print(Vault(Places(sys.argv[1])).seal("name", "value").hex())
print(sorted({"keyring", "asyncio", "logging", "socket", "subprocess", "pydantic"} & set(sys.modules)))
"""


def test_the_first_secret_makes_a_key_file(places: Places, vault: Vault) -> None:
    """Without a keyring: a 0600 file named by the record, whatever the umask; no place before the first secret."""
    assert vault.status() == {"locked": False, "place": "none"}
    mask = os.umask(0)
    try:
        secret = vault.seal("openai", "sk-canary")
    finally:
        os.umask(mask)
    record = load(places)
    assert record is not None
    assert [key.place for key in record.keys] == ["file"]
    files = {name: stat.S_IMODE(os.stat(os.path.join(places.vault, name)).st_mode) for name in os.listdir(places.vault)}
    assert files == {"keys.json": 0o600, f"{record.sealing.id}.key": 0o600}
    assert Vault(places).open("openai", secret) == "sk-canary"
    assert vault.status() == {"locked": False, "place": "file"}


def test_twelve_processes_make_one_key(places: Places) -> None:
    """Processes that seal a store's first secret at the same moment all seal under the same key."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", SEAL, places.state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(12)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = [child.communicate()[0].splitlines() for child in children]
    secrets = [bytes.fromhex(answer[0]) for answer in answers]
    assert len({sealed.key_of(secret) for secret in secrets}) == 1
    assert [Vault(places).open("name", secret) for secret in secrets] == ["value"] * 12
    assert len(list(Path(places.vault).glob("*.key"))) == 1
    # A key in a file costs no process, no keyring and no network.
    assert {answer[1] for answer in answers} == {"[]"}


def test_a_keyring_that_never_answers(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bus that takes connections and says nothing delays the first secret by seconds, later ones not at all."""
    monkeypatch.delenv("SIDEKEEP_VAULT")
    address = os.path.join(os.environ["XDG_RUNTIME_DIR"], "bus")
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(address)
        bus.listen()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={address}")
        started = time.monotonic()
        secret = Vault(places).seal("openai", "sk-canary")
        assert time.monotonic() - started < keyring_door.PATIENCE + 2
        assert Vault(places).status()["place"] == "file"
        # The place is recorded: nobody connects to the bus again.
        bus.settimeout(0)
        while True:
            try:
                bus.accept()[0].close()
            except BlockingIOError:
                break
        assert Vault(places).open("openai", secret) == "sk-canary"
        Vault(places).seal("other", "x")
        with pytest.raises(BlockingIOError):
            bus.accept()


def test_a_recorded_keyring_out_of_reach(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded place is the keyring and there is none: locked, for old secrets and new ones, no second key."""
    monkeypatch.delenv("SIDEKEEP_VAULT")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    key = sealed.new_key()
    save(places, Record(VERSION, (Key(sealed.id_of(key), "keyring"),)))
    vault = Vault(places)
    with pytest.raises(VaultLocked, match="out of reach"):
        vault.open("openai", sealed.seal(key, "openai", "sk-canary"))
    started = time.monotonic()
    with pytest.raises(VaultLocked):
        vault.seal("openai", "sk-other")
    assert time.monotonic() - started < 0.1, "a keyring that did not answer is not asked again at once"
    with pytest.raises(VaultLocked):
        vault.unlock()
    assert vault.status() == {"locked": True, "place": "keyring"}
    assert os.listdir(places.vault) == ["keys.json"]


def test_a_key_file_that_is_gone(places: Places, vault: Vault) -> None:
    """A missing or foreign key file is out of reach, named, and not replaced by a new key."""
    secret = vault.seal("openai", "sk-canary")
    path = Path(key_file(places, sealed.key_of(secret)))
    for damage in (path.unlink, lambda: path.write_bytes(sealed.new_key())):
        damage()
        with pytest.raises(VaultLocked, match=str(path)):
            vault.open("openai", secret)
        with pytest.raises(VaultLocked, match=str(path)):
            vault.seal("openai", "sk-other")


def test_a_record_that_is_gone(places: Places, vault: Vault) -> None:
    """The key file is found again, and goes on sealing: no second key."""
    secret = vault.seal("openai", "sk-canary")
    os.unlink(os.path.join(places.vault, "keys.json"))
    assert vault.open("openai", secret) == "sk-canary"
    assert sealed.key_of(vault.seal("other", "x")) == sealed.key_of(secret)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"version":1,"keys":[]}', b'{"version":2,"keys":[{"id":"0","place":"file"}]}', b"\xff\xfe"],
)
def test_a_record_that_cannot_be_read(places: Places, vault: Vault, content: bytes) -> None:
    """A damaged record, or a newer version's, is out of reach and stays as it is: no new key, no new record."""
    secret = vault.seal("openai", "sk-canary")
    path = Path(places.vault, "keys.json")
    path.write_bytes(content)
    with pytest.raises(VaultLocked, match=r"keys\.json"):
        vault.open("openai", secret)
    with pytest.raises(VaultLocked, match=r"keys\.json"):
        vault.seal("openai", "sk-other")
    assert path.read_bytes() == content


def test_a_secret_of_another_vault(vault: Vault) -> None:
    """What this vault did not seal is said to be unreadable, and is no reason to unlock anything."""
    vault.seal("openai", "sk-canary")
    for secret in (sealed.seal(sealed.new_key(), "openai", "x"), b"", b"\x01short", os.urandom(64)):
        with pytest.raises(NotFound, match="enter it again"):
            vault.open("openai", secret)


def test_the_record_holds_no_key(places: Places, vault: Vault) -> None:
    """Of a passphrase's key only the wrapped form is in the record, and nothing of it in the folder."""
    vault.add_key("open sesame")
    (key,) = (path.read_bytes() for path in Path(places.runtime).glob("*.key"))
    record = Path(places.vault, "keys.json").read_bytes()
    wrapped = msgspec.json.decode(record, type=Record).sealing.wrapped
    assert wrapped is not None
    assert key not in wrapped.key
    assert os.listdir(places.vault) == ["keys.json"]
