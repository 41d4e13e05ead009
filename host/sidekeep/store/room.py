"""How much room the disk under the store has: what a process tells when it can write no more."""

import os
from time import monotonic
from typing import Any

from sidekeep.model.limits import MIB
from sidekeep.model.places import Places
from sidekeep.store.tx import Tx

#: With less than this left, the next answer may not fit.
LEAST_BYTES = 1 * MIB
LOOK_SECONDS = 1.0
_MESSAGE = "The disk takes no more: free some space. What an answer says meanwhile is kept and written then."


def figures(places: Places) -> tuple[int, int, int]:
    """Bytes of the disk: all, used, and left for this user."""
    if not hasattr(os, "statvfs"):
        import shutil

        disk = shutil.disk_usage(places.state)
        return disk.total, disk.used, disk.free
    told = os.statvfs(places.state)
    return told.f_blocks * told.f_frsize, (told.f_blocks - told.f_bfree) * told.f_frsize, told.f_bavail * told.f_frsize


def warning(places: Places) -> dict[str, Any]:
    """The members of `storage.warning` for a disk that refuses writes, whatever its figures say."""
    total, used, _ = figures(places)
    return {"usedBytes": used, "limitBytes": total, "pct": 100, "code": "storage_full", "message": _MESSAGE}


def warn(tx: Tx, told: dict[str, Any]) -> bool:
    """Tell every port, by a row that a full disk still takes: the log has its size already."""
    tx.change("storage.warning", detail=told)
    return True


class DiskWatch:
    """Looks at the disk while answers run, for the case that nobody can write of it."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._due = 0.0
        self._full = False

    def look(self) -> dict[str, Any] | None:
        """`storage.warning` once when the disk has become full; it looks at most once a second."""
        now = monotonic()
        if now < self._due:
            return None
        self._due = now + LOOK_SECONDS
        try:
            before, self._full = self._full, figures(self._places)[2] < LEAST_BYTES
            return {"type": "storage.warning", **warning(self._places)} if self._full and not before else None
        except OSError:
            return None  # a folder that is gone is somebody else's to tell
