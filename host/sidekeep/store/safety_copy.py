"""A verified copy of the database before its schema changes."""

import os
import time

import apsw

from sidekeep.model.errors import StorageCorrupt
from sidekeep.model.places import Places


def copy_before_update(db: apsw.Connection, places: Places, version: int) -> str:
    """Copy through SQLite, check the copy, and return its path. Raises StorageCorrupt."""
    os.makedirs(places.backups, mode=0o700, exist_ok=True)
    path = os.path.join(places.backups, f"before-update-from-{version}-{time.strftime('%Y%m%dT%H%M%S')}.db")
    if os.path.exists(path):
        os.unlink(path)
    db.execute("VACUUM INTO ?", (path,))
    copy = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        verdict = copy.execute("PRAGMA integrity_check").fetchone()
        same = all(
            db.execute(f"SELECT count(*) FROM {table}").fetchone()
            == copy.execute(f"SELECT count(*) FROM {table}").fetchone()
            for table in ("threads", "nodes", "command_receipts", "attachments")
        )
    finally:
        copy.close()
    if verdict != ("ok",) or not same:
        raise StorageCorrupt(f"The copy made before the update does not check ({verdict}); nothing was changed.")
    os.chmod(path, 0o600)
    # SQLite syncs no database that it vacuums into.
    for name in (path, places.backups):
        descriptor = os.open(name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return path
