"""`locations.json`, where each repository lies, and `index.json`, the summaries of all; both by atomic replace.

The index is a cache: missing or unreadable, it is made again from every `meta.json`. Locations are the authority for
paths; missing or unreadable, they are made again from the repositories that are found.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from sidekeep.model.ids import is_uuid, new_id
from sidekeep.model.places import private_file
from sidekeep.sessions import gitdir, locks
from sidekeep.sessions.layout import Layout

VERSION = 1
#: The fields of `meta.json` that the index keeps (second document); `preview` is the index's own.
INDEXED = (
    "id", "agent_id", "title", "created_at", "updated_at", "source", "channel", "account_id", "peer_display", "peer_id",
    "pinned", "archived", "group", "status", "unread",
)  # fmt: skip


def found(layout: Layout) -> Iterator[tuple[str, str]]:
    """(session, relative path) of every repository that lies where one may lie."""
    yield from _in(layout, "")
    if os.path.isdir(layout.projects):
        for project in sorted(os.listdir(layout.projects)):
            if is_uuid(project):
                yield from _in(layout, f"projects/{project}/")


def _in(layout: Layout, folder: str) -> Iterator[tuple[str, str]]:
    path = layout.path(folder) if folder else layout.root
    if not os.path.isdir(path):
        return
    for name in sorted(os.listdir(path)):
        if is_uuid(name) and gitdir.is_repository(os.path.join(path, name)):
            yield name, folder + name


def locations(layout: Layout) -> dict[str, str]:
    """Session → relative path."""
    document = _read(layout.locations)
    kept = None if document is None else document.get("locations")
    if not isinstance(kept, dict):
        return dict(found(layout))
    return {name: path for name, path in kept.items() if is_uuid(name) and _inside(path)}


def _inside(path: object) -> bool:
    """Whether this is a relative path of ours: `<id>` or `projects/<id>/<id>`."""
    if not isinstance(path, str):
        return False
    parts = path.split("/")
    return (len(parts) == 1 and is_uuid(parts[0])) or (
        len(parts) == 3 and parts[0] == "projects" and is_uuid(parts[1]) and is_uuid(parts[2])
    )


def place(layout: Layout, session_id: str, relative: str | None) -> None:
    """Say where a session's repository lies from now on; None: nowhere."""
    with locks.registry(layout):
        kept = locations(layout)
        if kept.get(session_id) == relative and os.path.exists(layout.locations):
            return
        kept.pop(session_id, None)
        if relative is not None:
            kept[session_id] = relative
        _write(layout.locations, {"version": VERSION, "locations": kept})


def summaries(layout: Layout) -> dict[str, dict[str, Any]]:
    """The sessions of the index, made again from their `meta.json` where it cannot be read."""
    document = _read(layout.index)
    kept = None if document is None else document.get("sessions")
    if isinstance(kept, dict) and all(isinstance(row, dict) for row in kept.values()):
        return kept
    return rebuilt(layout)


def rebuilt(layout: Layout) -> dict[str, dict[str, Any]]:
    """The index as the repositories have it."""
    rows = {}
    for session_id, relative in sorted(locations(layout).items()):
        about = _read(os.path.join(layout.path(relative), "meta.json"))
        if about is not None:
            rows[session_id] = summary(about, None)
    return rows


def summary(about: dict[str, Any], preview: str | None) -> dict[str, Any]:
    """A row of the index from the content of a `meta.json`."""
    row = {name: about.get(name) for name in INDEXED}
    if preview is not None:
        row["preview"] = preview
    return row


def write_index(layout: Layout, changed: dict[str, dict[str, Any] | None]) -> None:
    """Bring rows into the index; None removes one. What others wrote meanwhile stays."""
    with locks.registry(layout):
        rows = summaries(layout)
        for session_id, row in changed.items():
            if row is None:
                rows.pop(session_id, None)
            else:
                rows[session_id] = row
        _write(layout.index, {"version": VERSION, "sessions": rows})


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            document = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _write(path: str, document: dict[str, Any]) -> None:
    """All of it or nothing, on disk before the name leads to it."""
    temporary = f"{path}.{new_id()}"
    fd = private_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(fd, "wb") as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
