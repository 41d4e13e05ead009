"""The vault of one store: seals and opens secrets, and keeps their key where the record says.

Making the object touches nothing. Every use reads the record anew, so that a `lock` or `rekey` of another
process counts at once.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from time import monotonic

import msgspec

from sidekeep.model.errors import InvalidCommand, NotFound, VaultLocked
from sidekeep.model.places import Places, private_file, private_folder
from sidekeep.store import locks
from sidekeep.vault import keyring_door, sealed
from sidekeep.vault.record import VERSION, Key, Record, key_file, key_files, load, save, sync_folder, write_durably

_LOCK_SECONDS = 15.0
#: For so long a keyring that did not answer is not asked again by this process.
_KEYRING_REST_SECONDS = 15.0
#: Keys that this process has had from the keyring, by id: asking costs a third of a second.
_from_keyring: dict[str, bytes] = {}
_keyring_failed: dict[str, tuple[float, str]] = {}


class Vault:
    """The vault below a store's state folder. All methods raise VaultLocked when a key is out of reach."""

    def __init__(self, places: Places) -> None:
        self._places = places

    # --- secrets ---

    def seal(self, name: str, value: str) -> bytes:
        """Sealed bytes. The first call chooses the key's place and makes it; it is on disk before this returns.

        Call it inside the write transaction that stores the result: `rekey` relies on that.
        """
        record = self._usable(load(self._places) or self._create())
        return sealed.seal(self._key(record.sealing), name, value)

    def open(self, name: str, secret: bytes) -> str:
        """The value. Raises NotFound for what this vault did not seal under this name."""
        record = load(self._places)
        if record is None and key_files(self._places):
            record = self._create()
        if record is not None:
            self._usable(record)
            try:
                key_id = sealed.key_of(secret)
                for entry in record.keys:
                    if entry.id == key_id:
                        return sealed.open_sealed(self._key(entry), name, secret)
                if key_id in record.retired:
                    raise VaultLocked("The vault was given a new key at this moment; try again.")
            except sealed.Unreadable:
                pass
        raise NotFound(f"The secret {name} cannot be read with this vault's key; enter it again.")

    # --- for a person ---

    def status(self) -> dict[str, object]:
        """`{locked, place}`; the place is `none` before the first secret."""
        record = load(self._places)
        if record is None:
            return {"locked": False, "place": "none"}
        return {"locked": record.locked or not self._in_reach(record.keys), "place": record.sealing.place}

    def unlock(self, passphrase: str | None = None, patience: float = keyring_door.PATIENCE) -> None:
        """Put the keys in reach of every process of this session, until `lock` or the session's end."""
        record = load(self._places)
        if record is None:
            return
        tried = [self._opened(entry, passphrase, patience) for entry in record.keys]
        if not any(tried):
            raise VaultLocked("The vault opens with its passphrase." if passphrase is None else "Wrong passphrase.")
        with self._changing() as now:
            if now is not None and now.locked:
                save(self._places, msgspec.structs.replace(now, locked=False))

    def lock(self) -> None:
        """Nothing is sealed or opened until somebody unlocks, also after a restart of the machine."""
        with self._changing() as record:
            if record is None:
                return
            if not record.locked:
                save(self._places, msgspec.structs.replace(record, locked=True))
            for entry in record.keys:
                self._close_session(entry.id)

    # --- a new key (see `resealing`) ---

    def keys(self) -> tuple[str, ...]:
        """Ids of the keys that there are; the last one seals."""
        record = load(self._places)
        return tuple(entry.id for entry in record.keys) if record is not None else ()

    def reach(self, key_ids: Iterable[str]) -> None:
        """Raises VaultLocked unless each of these keys that the record knows can be had."""
        record = load(self._places)
        if record is not None:
            self._usable(record)
            wanted = set(key_ids)
            for entry in record.keys:
                if entry.id in wanted:
                    self._key(entry)

    def add_key(self, passphrase: str | None) -> str:
        """A new key, from now on the one that seals; on disk when this returns its id."""
        if passphrase == "":
            raise InvalidCommand("passphrase: is empty.")
        key = sealed.new_key()
        with self._changing() as record:
            entry = self._put_away(key, passphrase)
            old = record or Record(VERSION, ())
            new = msgspec.structs.replace(old, keys=(*old.keys, entry), locked=False)
            save(self._places, new)
            if record is not None:
                self._sweep(new)
        return entry.id

    def remove_keys(self, key_ids: Iterable[str]) -> None:
        """Forget keys that seal nothing any more, never the last one."""
        with self._changing() as record:
            if record is None:
                return
            wanted = set(key_ids)
            gone = [entry for entry in record.keys if entry.id in wanted]
            kept = tuple(entry for entry in record.keys if entry.id not in wanted)
            if not gone or not kept:
                return
            retired = (*record.retired, *(entry.id for entry in gone))[-32:]
            for entry in gone:
                self._destroy(entry)
            save(self._places, msgspec.structs.replace(record, keys=kept, retired=retired))

    # --- the key and its places ---

    def _create(self) -> Record:
        with self._changing() as record:
            if record is None:
                # A key file without a record is one whose record was lost: secrets may hang on it.
                found = tuple(Key(key_id, "file") for key_id in key_files(self._places))
                record = Record(VERSION, found or (self._put_away(sealed.new_key(), None),))
                save(self._places, record)
            return record

    def _put_away(self, key: bytes, passphrase: str | None) -> Key:
        """Into the keyring if there is one, else a file; a passphrase's key only for this session."""
        key_id = sealed.id_of(key)
        if passphrase is not None:
            from sidekeep.vault.passphrase import guarded

            self._open_session(key)
            return guarded(key, passphrase)
        if keyring_door.possible():
            try:
                keyring_door.keep(key_id, key)
                _from_keyring[key_id] = key
                return Key(key_id, "keyring")
            except keyring_door.Unreachable:
                pass  # the choice is the file, and is recorded
        write_durably(key_file(self._places, key_id), key)
        return Key(key_id, "file")

    def _usable(self, record: Record) -> Record:
        if record.locked:
            raise VaultLocked("The vault is locked; unlock it in the settings or with `sidekeep vault unlock`.")
        return record

    def _key(self, entry: Key, patience: float = keyring_door.PATIENCE) -> bytes:
        key = self._session_key(entry.id)
        if key is not None:
            return key
        if entry.place == "passphrase":
            raise VaultLocked("The vault waits for its passphrase: `sidekeep vault unlock`.")
        return self._key_in_keyring(entry.id, patience) if entry.place == "keyring" else self._key_in_file(entry.id)

    def _in_reach(self, entries: Iterable[Key]) -> bool:
        try:
            for entry in entries:
                self._key(entry)
        except VaultLocked:
            return False
        return True

    def _opened(self, entry: Key, passphrase: str | None, patience: float) -> bool:
        if entry.place != "passphrase":
            key = self._key(entry, patience)
            if entry.place == "keyring":
                self._open_session(key)
            return True
        if passphrase is None:
            return self._session_key(entry.id) is not None
        from sidekeep.vault.passphrase import opened

        unwrapped = opened(entry, passphrase)
        if unwrapped is None:
            return False
        self._open_session(unwrapped)
        return True

    def _key_in_file(self, key_id: str) -> bytes:
        path = key_file(self._places, key_id)
        key = _read(path)
        if key is None or sealed.id_of(key) != key_id:
            raise VaultLocked(
                f"The vault's key file {path} is missing or is not the right one. Bring it back, or delete the "
                "secrets that it seals and run `sidekeep vault rekey`."
            )
        return key

    def _key_in_keyring(self, key_id: str, patience: float) -> bytes:
        if key_id in _from_keyring:
            return _from_keyring[key_id]
        failed_at, why = _keyring_failed.get(key_id, (float("-inf"), ""))
        if patience > keyring_door.PATIENCE or monotonic() - failed_at > _KEYRING_REST_SECONDS:
            try:
                key = keyring_door.fetch(key_id, patience)
                if sealed.id_of(key) == key_id:
                    _from_keyring[key_id] = key
                    return key
                why = "it holds another key"
            except keyring_door.Unreachable as error:
                why = str(error)
            _keyring_failed[key_id] = (monotonic(), why)
        raise VaultLocked(
            f"The vault's key is in the system's keyring, which is out of reach ({why}). Unlock the keyring, or run "
            "`sidekeep vault unlock` in a session that reaches it."
        )

    def _sweep(self, record: Record) -> None:
        """Key files that no record ever named: made just before a death, they seal nothing."""
        named = {entry.id for entry in record.keys}
        for key_id in key_files(self._places):
            if key_id not in named:
                os.unlink(key_file(self._places, key_id))

    def _destroy(self, entry: Key) -> None:
        self._close_session(entry.id)
        _from_keyring.pop(entry.id, None)
        if entry.place == "file":
            with contextlib.suppress(FileNotFoundError):
                os.unlink(key_file(self._places, entry.id))
                sync_folder(self._places.vault)
        elif entry.place == "keyring":
            with contextlib.suppress(keyring_door.Unreachable):  # what stays there seals nothing any more
                keyring_door.forget(entry.id)

    # --- the session: a 0600 file in the runtime folder, gone with the session ---

    def _session_path(self, key_id: str) -> str:
        return os.path.join(self._places.runtime, f"{key_id}.key")

    def _session_key(self, key_id: str) -> bytes | None:
        key = _read(self._session_path(key_id))
        return key if key is not None and sealed.id_of(key) == key_id else None

    def _open_session(self, key: bytes) -> None:
        try:
            self._places.make_runtime()
        except PermissionError as error:
            raise VaultLocked(f"The vault cannot be opened for this session: {error}.") from error
        path = self._session_path(sealed.id_of(key))
        fd = private_file(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            os.write(fd, key)
        finally:
            os.close(fd)
        os.replace(path + ".new", path)

    def _close_session(self, key_id: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._session_path(key_id))

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Record | None]:
        """The record, with every other process kept from changing it."""
        private_folder(self._places.locks)
        fd = locks.open_lock_file(os.path.join(self._places.locks, "vault"))
        try:
            if not locks.lock_within(fd, locks.EXCLUSIVE, _LOCK_SECONDS):
                raise VaultLocked("Another process is changing the vault and does not finish; try again.")
            yield load(self._places)
        finally:
            os.close(fd)


def _read(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultLocked(f"The vault's key {path} cannot be read ({error.strerror}).") from error
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)
