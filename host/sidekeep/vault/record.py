"""The vault's record, `vault/keys.json`: which keys there are, where each lies, and whether the user locked them.

The last key seals; the others are there only while a `rekey` has not resealed everything yet. The file is
replaced as a whole and is on disk before anything sealed under a new key can be committed.
"""

import errno
import os
import sys
from typing import Literal

import msgspec
from msgspec import Struct

from sidekeep.model.errors import StorageFull, VaultLocked
from sidekeep.model.places import Places, private_file, private_folder

VERSION = 1
Place = Literal["keyring", "file", "passphrase"]


class Scrypt(Struct, frozen=True):
    """How a passphrase becomes a key."""

    salt: bytes
    n: int
    r: int
    p: int


class Wrapped(Struct, frozen=True):
    """A key that a passphrase opens."""

    kdf: Scrypt
    key: bytes


class Key(Struct, frozen=True, omit_defaults=True):
    """One key: its id, its place, and for a passphrase the key itself in its wrapping."""

    id: str
    place: Place
    wrapped: Wrapped | None = None


class Record(Struct, frozen=True):
    """`keys` has at least one; `retired` are ids of keys that a `rekey` has removed."""

    version: int
    keys: tuple[Key, ...]
    locked: bool = False
    retired: tuple[str, ...] = ()

    @property
    def sealing(self) -> Key:
        """The key that new values are sealed with."""
        return self.keys[-1]


def path_of(places: Places) -> str:
    return os.path.join(places.vault, "keys.json")


def key_file(places: Places, key_id: str) -> str:
    """Where a key of the place `file` lies."""
    return os.path.join(places.vault, f"{key_id}.key")


def key_files(places: Places) -> list[str]:
    """Ids of the keys that lie in files, the oldest first."""
    try:
        names = [name for name in os.listdir(places.vault) if name.endswith(".key")]
    except FileNotFoundError:
        return []
    paths = sorted((os.path.join(places.vault, name) for name in names), key=lambda path: os.stat(path).st_mtime_ns)
    return [os.path.basename(path).removesuffix(".key") for path in paths]


def load(places: Places) -> Record | None:
    """The record, None before the first secret. Raises VaultLocked when it is there and cannot be read."""
    try:
        with open(path_of(places), "rb") as file:
            record = msgspec.json.decode(file.read(), type=Record)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise VaultLocked(f"The vault's record {path_of(places)} cannot be read ({error}); bring it back.") from error
    if record.version != VERSION or not record.keys:
        raise VaultLocked(f"The vault's record {path_of(places)} was written by another version of Sidekeep.")
    return record


def save(places: Places, record: Record) -> None:
    """Replace the record; it is on disk when this returns."""
    write_durably(path_of(places), msgspec.json.encode(record))


def write_durably(path: str, data: bytes) -> None:
    """A 0600 file with these bytes or the one before; file and folder are on disk when this returns.

    Raises StorageFull, and VaultLocked for a folder that cannot be written.
    """
    try:
        _write_durably(path, data)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull("The disk is full; nothing was changed in the vault.") from error
        raise VaultLocked(f"The vault cannot be written: {error}.") from error


def _write_durably(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        private_folder(folder)
        sync_folder(os.path.dirname(folder))
    fd = private_file(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(path + ".new", path)
    sync_folder(folder)


def sync_folder(folder: str) -> None:
    """Names in a folder reach the disk by a sync of the folder; Windows writes them with the file."""
    if sys.platform == "win32":
        return
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
