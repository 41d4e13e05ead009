"""Connections to the database with the settings of the durability promise."""

import errno
import os
import time
from collections.abc import Callable

import apsw

from sidekeep.model.errors import Internal, SidekeepError, StorageCorrupt, StorageFull, StoreBusy

OLDEST_SQLITE = (3, 51, 3)
PATIENCE_SECONDS = 20.0
LONGEST_PATH = 500  # SQLite takes 512 bytes, with the names of the files beside the database
_PAUSE = (0.0005, 0.0005, 0.001, 0.001, 0.002, 0.002, 0.005)


def sqlite_version() -> str:
    """The version of the SQLite that reads and writes the store."""
    return apsw.sqlite_lib_version()


def check_sqlite(version: str | None = None) -> None:
    """Refuse an SQLite with the defect that loses commits when two connections reset the log.

    It is in 3.7.0 to 3.51.2; raises Internal.
    """
    found = version or sqlite_version()
    if tuple(int(part) for part in found.split(".")[:3]) < OLDEST_SQLITE:
        raise Internal(
            f"SQLite {found} can lose acknowledged commits; install apsw 3.51.3 or newer "
            "(pip install --upgrade apsw) and start again."
        )


def _patient(seconds: float) -> Callable[[int], bool]:
    """A busy handler that sleeps for very short times: most write locks last under a millisecond."""
    started = 0.0

    def wait(attempt: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if attempt == 0:
            started = now
        if now - started > seconds:
            return False
        time.sleep(_PAUSE[attempt] if attempt < len(_PAUSE) else 0.005)
        return True

    return wait


def connect(
    path: str, *, vfs: str | None = None, create: bool = False, patience: float = PATIENCE_SECONDS
) -> apsw.Connection:
    """Open the database for reading and writing; the caller checks what is in it.

    Raises apsw.Error; Internal for a path that SQLite cannot take.
    """
    _check_path(path)
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    db = apsw.Connection(path, flags=flags, vfs=vfs)
    db.set_busy_handler(_patient(patience))
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    # A table with partial indexes else has its cached statements compiled anew whenever a value is bound.
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    db.wal_autocheckpoint(0)
    db.pragma("synchronous", "FULL")
    db.pragma("foreign_keys", True)
    db.pragma("trusted_schema", False)
    return db


def _check_path(path: str) -> None:
    try:
        length = len(os.path.realpath(path).encode())
    except UnicodeEncodeError:
        raise Internal("The path of the state folder is not in UTF-8; name another one in SIDEKEEP_STATE.") from None
    if length > LONGEST_PATH:
        raise Internal(
            f"The path of the state folder is too long ({length} bytes with the database's name, where {LONGEST_PATH} "
            "are taken); name another one in SIDEKEEP_STATE."
        )


def of_the_folder(error: OSError) -> SidekeepError:
    """The product's error for what the system says of the state folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return typed(apsw.FullError())
    where = f" {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
    return StorageFull(
        f"The state folder cannot be used ({error.strerror or error}{where and ':' + where}); "
        "mend that, or name another one in SIDEKEEP_STATE."
    )


def typed(error: BaseException) -> SidekeepError:
    """The product's error for a foreign one; foreign exceptions do not leave this room."""
    if isinstance(error, SidekeepError):
        return error
    if isinstance(error, apsw.FullError):
        return StorageFull("The disk is full: free some space, then send again. Nothing that was saved is lost.")
    if isinstance(error, apsw.ConnectionClosedError):
        return StorageFull("The store's files are out of reach; put them back, or start the browser again.")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StorageCorrupt("The store is damaged. Nothing more is written to it; run `sidekeep verify --repair`.")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusy("Another process keeps the store busy; try again.")
    if isinstance(error, apsw.IOError | apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError):
        return StorageFull(f"The disk refused a write ({error}); check the disk, then send again.")
    return Internal(f"An internal fault ({type(error).__name__}: {error}); the log has more.")
