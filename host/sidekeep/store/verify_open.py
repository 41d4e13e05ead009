"""Opens a store to be checked, also one that is too damaged to be used."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from sidekeep.model.errors import StorageCorrupt
from sidekeep.model.places import Places
from sidekeep.store import locks
from sidekeep.store.connection import check_sqlite, connect, typed
from sidekeep.store.opener import Store, open_store


@contextmanager
def to_check(places: Places) -> Iterator[tuple[apsw.Connection, Store | None]]:
    """A connection, and the store where it opens as one. Raises what opening raises, but for damage."""
    try:
        store = open_store(places)
    except StorageCorrupt:
        with _damaged(places) as db:
            yield db, None
        return
    try:
        yield store.db, store
    finally:
        store.close()


@contextmanager
def _damaged(places: Places) -> Iterator[apsw.Connection]:
    """Read as far as it goes. Raises StorageCorrupt for a file that is no database at all."""
    check_sqlite()
    schema = locks.open_lock_file(places.schema_lock)
    try:
        locks.lock(schema, locks.SHARED, wait=True)
        db = _opened(places)
        try:
            yield db
        except apsw.Error as error:
            raise typed(error) from error
        finally:
            db.close(True)
    finally:
        os.close(schema)


def _opened(places: Places) -> apsw.Connection:
    db = None
    try:
        db = connect(places.database)
        db.pragma("query_only", True)
        tables = db.execute("SELECT count(*) FROM sqlite_schema WHERE name IN ('threads', 'nodes')").fetchone()
        if tables is not None and tables[0]:
            return db
    except (apsw.CorruptError, apsw.NotADBError):
        pass
    if db is not None:
        db.close(True)
    raise StorageCorrupt(
        "Nothing can be read of sidekeep.db, not even which tables it has; it is untouched. "
        "Restore a backup: `sidekeep backup restore`."
    )
