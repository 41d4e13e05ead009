"""How much room the disk under the store has: what a process tells when it can write no more."""

import os
import shutil

from sidekeep.model.limits import MIB
from sidekeep.model.places import Places
from sidekeep.store.tx import Tx

#: With less than this left, the next answer may not fit.
LEAST_BYTES = 1 * MIB


def figures(places: Places) -> dict[str, object]:
    """`{"usedBytes","limitBytes","pct"}` of the disk; `pct` is 100 when nothing worth naming is left."""
    disk = shutil.disk_usage(places.state)
    pct = 100 if disk.free < LEAST_BYTES else disk.used * 100 // max(1, disk.total)
    return {"usedBytes": disk.used, "limitBytes": disk.total, "pct": pct}


def is_full(places: Places) -> bool:
    """Whether the disk has no room that this user may take."""
    if not hasattr(os, "statvfs"):
        return shutil.disk_usage(places.state).free < LEAST_BYTES
    told = os.statvfs(places.state)
    return told.f_bavail * told.f_frsize < LEAST_BYTES


def warn(tx: Tx, told: dict[str, object]) -> bool:
    """`storage.warning` to every port: the disk refused a write, whatever its figures say."""
    message = "The disk refuses writes: free some space. What an answer says meanwhile is kept and written then."
    tx.change("storage.warning", detail={**told, "pct": 100, "code": "storage_full", "message": message})
    return True
