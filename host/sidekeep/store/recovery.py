"""What turns changed in a project's folder, kept so that it can be put back: `.file-recovery/<session>/<turn>`.

A turn's folder holds a manifest and full copies of what was there before its first change to each file. Both are on the
disk before a file is changed. It lies beside the conversations' repositories and never in the user's folder.
"""

import json
import os
import shutil
from typing import Any, NamedTuple

from sidekeep.model.ids import is_uuid
from sidekeep.model.places import Places, private_file, private_folder
from sidekeep.store import inside

KEPT_TURNS = 100
_MANIFEST = "manifest.json"


class Change(NamedTuple):
    """One file of a turn: the digests before its first and after its last change (None: it was not there)."""

    path: str
    before: str | None
    after: str | None
    copy: str | None


class Recovery:
    """The recovery folder of one session. `project_id` is None for the default project."""

    def __init__(self, places: Places, session_id: str, project_id: str | None) -> None:
        root = places.sessions
        if project_id is not None and is_uuid(project_id):
            root = os.path.join(root, "projects", project_id)
        self.folder = os.path.join(root, ".file-recovery", session_id)

    def changes(self, name: str) -> list[Change]:
        """What a turn (or an undo) recorded, in order; empty where there is nothing."""
        document = self.document(name)
        return [Change(each["path"], each["before"], each["after"], each["copy"]) for each in document.get("files", ())]

    def document(self, name: str) -> dict[str, Any]:
        """The whole manifest; empty where there is none that can be read."""
        try:
            with open(os.path.join(self.folder, name, _MANIFEST), "rb") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def before(self, name: str, change: Change) -> bytes | None:
        """The content before a change. Raises OSError, ValueError where the copy is not what was recorded."""
        if change.copy is None:
            return None
        with open(os.path.join(self.folder, name, change.copy), "rb") as file:
            data = file.read(inside.FILE_BYTES + 1)
        if inside.digest(data) != change.before:
            raise ValueError(f"the copy of {change.path} is damaged")
        return data

    def record(self, name: str, path: str, before: bytes | None, after: str | None, **about: Any) -> None:
        """Keep what is there before a change; a second change of the turn keeps the first copy. Raises OSError."""
        folder = private_folder(os.path.join(private_folder(self._made()), name))
        files = {change.path: change for change in self.changes(name)}
        standing = files.get(path)
        if standing is not None:
            files[path] = standing._replace(after=after)
        else:
            copy = None if before is None else f"{len(files)}.copy"
            if before is not None:
                _write(os.path.join(folder, str(copy)), before)
            files[path] = Change(path, inside.digest(before), after, copy)
        document = {**self.document(name), **about, "files": [change._asdict() for change in files.values()]}
        _write(os.path.join(folder, _MANIFEST), json.dumps(document, indent=1).encode())
        _sync(folder)
        _sync(self.folder)

    def record_head(self, name: str, head: str | None, **about: Any) -> None:
        """Note where the conversation was. Raises OSError."""
        folder = private_folder(os.path.join(private_folder(self._made()), name))
        document = {"files": [], **self.document(name), **about, "head": head}
        _write(os.path.join(folder, _MANIFEST), json.dumps(document, indent=1).encode())
        _sync(folder)
        _sync(self.folder)

    def prune(self, kept: int = KEPT_TURNS) -> None:
        """Forget all but the newest turns."""
        try:
            names = [entry for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return
        names.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns, reverse=True)
        for entry in names[kept:]:
            shutil.rmtree(entry.path, ignore_errors=True)

    def _made(self) -> str:
        for folder in (os.path.dirname(os.path.dirname(self.folder)), os.path.dirname(self.folder)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        return self.folder


def _write(path: str, data: bytes) -> None:
    """All of it or nothing, on disk before the name leads to it."""
    fd = private_file(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def _sync(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
