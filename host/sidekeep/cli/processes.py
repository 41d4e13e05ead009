"""The processes that live on a store, told by their locks: a file whose lock is free belongs to a dead one."""

import os
from pathlib import Path
from typing import Any

import msgspec

from sidekeep.model.places import Places
from sidekeep.store import locks


def hosts(places: Places) -> list[dict[str, Any]]:
    """Each living host: pid, version, and what else its file says."""
    found = []
    for path in sorted(Path(places.hosts).glob("*.json")):
        if locks.is_held(str(path.with_suffix(""))):
            told = _read(path)
            if told is not None:
                found.append({"instanceId": path.stem, **told})
    return found


def runner(places: Places) -> dict[str, Any] | None:
    """The living runner; None where its lock is free."""
    if not locks.is_held(places.runner_lock):
        return None
    return _read(Path(places.runner_lock + ".json"))


def _read(path: Path) -> dict[str, Any] | None:
    """A process's own file; None while it is not written yet, or just gone."""
    try:
        told = msgspec.json.decode(path.read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("pid"), int) else None


def size(path: str) -> int:
    """Bytes of a file by `stat`, which opens nothing; 0 where it is not there."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
