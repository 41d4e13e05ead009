"""A mark that a sync of the log has failed, and what the next opening does about it.

After a failed sync Linux counts the pages as written: they can be read, no later sync brings them to the disk,
and a power cut takes them. Whoever recovers the log would read a commit there, copy it into the database, and be
left with half of it. So nobody recovers the log while the process lives that met the failure (it opens its new
connection beside the old one, and its next commit lies over the lost frames); when it dies before that, the next
opening writes the log's bytes once more, which makes them unsynced again, and syncs them.

The mark lies in the runtime folder, which is in memory: it lasts exactly as long as the pages do.
"""

import os

import apsw

from sidekeep.model.places import Places, private_file

_PIECE = 64 * 1024  # SQLite's own write takes the length modulo 128 KiB


def _path(places: Places) -> str:
    return os.path.join(places.runtime, "unsynced")


def note(places: Places) -> None:
    """Leave the mark. Raises OSError."""
    places.make_runtime()
    os.close(private_file(_path(places)))


def is_noted(places: Places) -> bool:
    """Whether frames of the log may be in memory only, without anybody who would sync them."""
    return os.path.lexists(_path(places))


def clear(places: Places) -> None:
    """The frames are on the disk, or others lie over them."""
    try:
        os.unlink(_path(places))
    except FileNotFoundError:
        return


def write_log_again(database: str, vfs: str | None) -> None:
    """Write the bytes of the log over themselves and sync them, through SQLite's own file methods.

    Only while no connection is open in any process. Raises apsw.Error.
    """
    path = database + "-wal"
    if not os.path.exists(path):
        return
    file = apsw.VFSFile(vfs or "", path, [apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        size = file.xFileSize()
        for offset in range(0, size, _PIECE):
            file.xWrite(file.xRead(min(_PIECE, size - offset), offset), offset)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()
