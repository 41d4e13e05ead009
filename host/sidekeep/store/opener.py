"""Opens the store: one process at a time, with migration, backup and the checkpoint before the first answer."""

import os
from collections.abc import Callable

import apsw

from sidekeep.model.errors import SidekeepError, StorageCorrupt, StorageFull, StoreBusy, StoreReplaced
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places, private_file
from sidekeep.store import locks, migrations, unsynced
from sidekeep.store.connection import check_sqlite, connect, of_the_folder, typed

Progress = Callable[[str, int | None], None]
SCHEMA_WAIT_SECONDS = 30.0


def _silent(_what: str, _pct: int | None) -> None:
    """The progress of callers that show none."""


class Store:
    """An open store: its writer connection and the shared lock that says this process uses the schema."""

    def __init__(
        self, places: Places, db: apsw.Connection, store_id: str, schema_lock: int, vfs: str | None = None
    ) -> None:
        self.places = places
        self.db = db
        self.store_id = store_id
        self.schema_lock = schema_lock
        self.vfs = vfs
        self.readers: list[apsw.Connection] = []

    def reader(self) -> apsw.Connection:
        """Another connection of this process, for queries beside the writer."""
        db = connect(self.places.database, vfs=self.vfs)
        db.pragma("query_only", True)
        self.readers.append(db)
        return db

    def wal_inode(self) -> int:
        """The identity of the log file: another one means that somebody put files in its place."""
        try:
            return os.stat(self.places.database + "-wal").st_ino
        except FileNotFoundError:
            return 0

    def reconnect(self) -> None:
        """A new writer connection after a failed sync; what was committed is made durable first.

        The old one is closed last: with no connection left the next one would recover the log, and take frames
        for a commit that no sync will ever bring to the disk (see `unsynced`).
        """
        fresh = connect(self.places.database, vfs=self.vfs)
        try:
            make_durable(fresh)
        except BaseException:
            fresh.close(True)
            raise
        self._close_writer()
        self.db = fresh

    def reopen(self) -> None:
        """A new writer connection after somebody put other files in the place of ours.

        Raises StorageFull where there are none (what was open goes on being read), StoreReplaced where they are
        another store's: what a client says to one store is never written to another.
        """
        if not os.path.exists(self.places.database):
            raise StorageFull(f"The store is gone from {self.places.state}; put it back, then send again.")
        self._close_writer()
        fresh = connect(self.places.database, vfs=self.vfs)
        if migrations.versions(fresh).store_id != self.store_id:
            fresh.close(True)
            raise StoreReplaced("Another store was put in the place of this one; nothing of this is written to it.")
        self.db = fresh
        make_durable(self.db)

    def _close_writer(self) -> None:
        try:
            self.db.close(True)
        except apsw.Error:
            # A connection that cannot be closed is left to the end of the process.
            self.readers.append(self.db)

    def close(self) -> None:
        for db in (*self.readers, self.db):
            db.close(True)
        os.close(self.schema_lock)


def make_durable(db: apsw.Connection) -> None:
    """Sync both files: a commit found in the log may be in the page cache only.

    Raises apsw.Error when the disk refuses, and StoreBusy when another connection is in the way.
    """
    outcome = db.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
    if outcome is None or outcome[0]:
        raise StoreBusy("Another process reads the store; try again.")


def open_store(
    places: Places,
    *,
    progress: Progress = _silent,
    vfs: str | None = None,
    schema_folder: str = migrations.SCHEMA_FOLDER,
    patience: float = SCHEMA_WAIT_SECONDS,
) -> Store:
    """Open the store of a state folder, made or migrated where needed.

    `progress(what, pct)` is called while it waits or works. Raises StoreBusy (with pids of who holds it),
    StoreNewer, StorageCorrupt, StorageFull. Source: first document §2; `docs/durability.md`.
    """
    check_sqlite()
    try:
        places.make()
        opening = locks.open_lock_file(places.open_lock)
        schema = locks.open_lock_file(places.schema_lock)
    except OSError as error:
        raise of_the_folder(error) from error
    try:
        if not locks.lock_within(opening, locks.EXCLUSIVE, 0.02):
            progress("opening", None)
            if not locks.lock_within(opening, locks.EXCLUSIVE, patience):
                raise _busy(places, "Another process is opening the store and does not finish; try again.")
        store = _open_alone_or_beside(places, schema, progress, vfs, schema_folder, patience)
    except SidekeepError:
        os.close(schema)
        raise
    except apsw.Error as error:
        os.close(schema)
        raise typed(error) from error
    except OSError as error:
        os.close(schema)
        raise of_the_folder(error) from error
    finally:
        os.close(opening)
    return store


def _open_alone_or_beside(
    places: Places, schema: int, progress: Progress, vfs: str | None, folder: str, patience: float
) -> Store:
    steps = migrations.ladder(folder)
    alone = locks.lock(schema, locks.EXCLUSIVE, wait=False)
    if not alone:
        locks.lock(schema, locks.SHARED, wait=True)
    _refuse_a_torn_store(places)
    _make_private(places.database)
    if alone and unsynced.is_noted(places):
        unsynced.write_log_again(places.database, vfs)
    db = connect(places.database, vfs=vfs, create=True)
    try:
        found = migrations.versions(db)
        if not alone:
            # Who held the lock a moment ago may have been killed since: then what we read there is ours to sync.
            alone = locks.lock(schema, locks.EXCLUSIVE, wait=False) or not locks.lock(schema, locks.SHARED, wait=True)
        migrations.check_writable(found, steps[-1].number)
        missing = migrations.pending(found, steps)
        if missing:
            if not alone and any(step.exclusive for step in missing):
                progress("waiting for an older version to end", None)
                alone = locks.lock_within(schema, locks.EXCLUSIVE, patience)
                if not alone:
                    raise _busy(places, "An older version of Sidekeep still uses the store; close its browser.")
            if found.schema:
                progress("backing up before an update", None)
                from sidekeep.store.safety_copy import copy_before_update

                copy_before_update(db, places, found.schema)
            else:
                db.pragma("journal_mode", "WAL")
            progress("updating the store", None)
            store_id = found.store_id or new_id()
            migrations.apply(db, missing, None if found.store_id else store_id)
        else:
            store_id = found.store_id or ""
        if alone:
            # A writer that was killed inside COMMIT may have left a commit that no disk has seen.
            make_durable(db)
            unsynced.clear(places)
            locks.lock(schema, locks.SHARED, wait=True)
    except BaseException:
        db.close(True)
        raise
    return Store(places, db, store_id, schema, vfs)


def _make_private(path: str) -> None:
    """A new, empty file that is its owner's alone: SQLite gives its log the same mode.

    Only where no file is: opening one that is in use here would drop this process's locks on it.
    """
    try:
        os.close(private_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        os.chmod(path, 0o600)


def _refuse_a_torn_store(places: Places) -> None:
    """An empty file beside a filled log, or in a folder with a history, is a store that lost all, not a new one."""
    path = places.database
    try:
        if os.stat(path).st_size:
            return
    except FileNotFoundError:
        return
    try:
        orphaned = os.stat(path + "-wal").st_size > 0
    except FileNotFoundError:
        orphaned = False
    if orphaned:
        raise StorageCorrupt(
            "sidekeep.db is empty but its log is not; nothing was touched. Restore a backup, or move both away."
        )
    if _has_entries(places.backups) or _has_entries(places.sessions):
        raise StorageCorrupt(
            f"sidekeep.db is empty, but there was a store in {places.state}; nothing was touched. Put a copy from "
            "`backups` in its place, or move the empty file away to begin with a new store."
        )


def _has_entries(folder: str) -> bool:
    """Whether anything lies in a folder that a new store leaves empty; names with a dot are nobody's history."""
    try:
        return any(not name.startswith(".") for name in os.listdir(folder))
    except FileNotFoundError:
        return False


def _busy(places: Places, message: str) -> StoreBusy:
    """Names who holds the store, where they say who they are."""
    from sidekeep.store.holders import in_the_way  # nobody needs it who is not kept waiting

    return StoreBusy(message, **in_the_way(places))
