"""A copy of the database as it is, damage and all, before anything in it is changed."""

import os
import shutil
import time
from collections.abc import Callable

import apsw

from sidekeep.model.errors import StorageFull
from sidekeep.model.places import Places

PAGES_AT_ONCE = 2000


def free_name(places: Places, what: str, ending: str = ".db") -> str:
    """A path in the folder of backups that nothing has yet: what, when."""
    os.makedirs(places.backups, mode=0o700, exist_ok=True)
    stem = os.path.join(places.backups, f"{what}-{time.strftime('%Y%m%dT%H%M%S')}")
    path, number = stem + ending, 1
    while os.path.exists(path):
        path, number = f"{stem}-{number}{ending}", number + 1
    return path


def refuse_without_room(places: Places) -> None:
    """Raises StorageFull when the disk has no room for another copy of the database."""
    needed = sum(
        os.stat(places.database + end).st_size for end in ("", "-wal") if os.path.exists(places.database + end)
    )
    free = shutil.disk_usage(places.state).free
    if free < needed + PAGES_AT_ONCE * 4096:
        raise StorageFull(f"A copy before the repair needs {needed} bytes and {free} are free; nothing was changed.")


def copy_as_it_is(db: apsw.Connection, path: str, progress: Callable[[int, int], None]) -> None:
    """Copy page by page what this connection sees now; raises apsw.Error where the disk cannot read a page."""
    target = apsw.Connection(path)
    try:
        # An open read keeps the copy from beginning again when somebody else writes.
        db.execute("BEGIN")
        db.execute("PRAGMA schema_version").fetchone()
        with target.backup("main", db, "main") as backup:
            while not backup.done:
                backup.step(PAGES_AT_ONCE)
                progress(backup.page_count - backup.remaining, backup.page_count)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        target.close()
    os.chmod(path, 0o600)
