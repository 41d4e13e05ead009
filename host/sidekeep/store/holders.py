"""Which other processes hold a store: asked only when one of them is in the way."""

import os
from typing import Any

import msgspec

from sidekeep.model.places import Places
from sidekeep.store import locks


def holders(places: Places) -> list[dict[str, Any]]:
    """`[{"pid", "version"}]` of living hosts and the runner, without this process."""
    paths = [(path, path.removesuffix(".json")) for path in _files(places.hosts)]
    paths.append((places.runner_lock + ".json", places.runner_lock))
    found = []
    for path, lock in paths:
        told = _read(path)
        if told is not None and told["pid"] != os.getpid() and locks.is_held(lock):
            found.append({"pid": told["pid"], "version": str(told.get("version", ""))})
    return found


def in_the_way(places: Places) -> dict[str, Any]:
    """`pid` and `version` of one that holds the store, as a rejection names it; empty when nobody says who it is."""
    found = holders(places)
    return found[0] if found else {}


def _files(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    except FileNotFoundError:
        return []


def _read(path: str) -> dict[str, Any] | None:
    """A process's own file; None while it is not written yet, or just gone."""
    try:
        with open(path, "rb") as file:
            told = msgspec.json.decode(file.read())
    except (OSError, msgspec.DecodeError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("pid"), int) else None
