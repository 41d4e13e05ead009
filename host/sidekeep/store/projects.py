"""Projects: a name for a folder of the user's. Its identity is the id, the path an attribute (second document, B5)."""

import os
from typing import NamedTuple

from sidekeep.model.errors import Conflict, NotFound, ProjectFrozen
from sidekeep.model.ids import is_uuid
from sidekeep.store import damage, project_folders, runs, tree
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx

DEFAULT = "default"
RELOCATED = "project_relocated"
_NAME = 200


class Project(NamedTuple):
    """`path` is None for the default project, and for one of another machine that has no folder here yet."""

    id: str
    name: str
    path: str | None

    @property
    def missing(self) -> bool:
        """Whether its folder is gone."""
        return self.path is not None and not project_folders.exists(self.path)


def listing(tx: Tx) -> list[Project]:
    """All of them by name, the default one first."""
    rows = tx.all("SELECT id, name, path FROM projects WHERE id <> ? ORDER BY name, id", (DEFAULT,))
    return [Project(DEFAULT, "Default", None), *map(Project._make, rows)]


def get(tx: Tx, project_id: str) -> Project:
    """Raises NotFound."""
    if project_id == DEFAULT:
        return Project(DEFAULT, "Default", None)
    row = tx.one("SELECT id, name, path FROM projects WHERE id = ?", (project_id,))
    if row is None:
        raise NotFound(f"There is no project {project_id}.")
    return Project._make(row)


def check(tx: Tx, project_id: str | None) -> None:
    """Raises NotFound for an id of ours that there is no project of; another program's names are kept as they come."""
    if project_id is not None and is_uuid(project_id):
        get(tx, project_id)


def bind(tx: Tx, thread: ThreadRow, project_id: str | None) -> None:
    """Set the project of a thread; the same again is fine. Raises NotFound, ProjectFrozen after the first turn."""
    if (project_id or DEFAULT) == (thread.project_id or DEFAULT):
        return
    if thread.next_seq > 1:
        raise ProjectFrozen("The project is frozen after the first turn.")
    check(tx, project_id)
    thread.set("project_id", project_id)


def folder_of(tx: Tx, thread: ThreadRow) -> str | None:
    """The folder of a conversation's project; None where it has none, or the folder is gone."""
    if thread.project_id is None or not is_uuid(thread.project_id):
        return None
    row = tx.one("SELECT path FROM projects WHERE id = ?", (thread.project_id,))
    if row is None or row[0] is None or not project_folders.exists(row[0]):
        return None
    return str(row[0])


def create(tx: Tx, path: str, name: str | None) -> str:
    """The project of a folder: the one that has it, or the one that lay elsewhere and was moved here, or a new one.

    A folder whose mark belongs to a project that still has its own folder is a copy, and gets a project of its own.
    Raises InvalidCommand.
    """
    folder = project_folders.resolved(path)
    standing = tx.one("SELECT id FROM projects WHERE path = ?", (folder,))
    if standing is not None:
        return str(standing[0])
    moved = _moved_here(tx, folder)
    if moved is not None:
        _move(tx, moved, folder)
        return moved.id
    project_id = tx.new_id()
    tx.run(
        "INSERT INTO projects (id, name, path, created_at, updated_at, footprint) VALUES (?, ?, ?, ?, ?, ?)",
        (project_id, name or _name_of(folder), folder, tx.now, tx.now, project_folders.mark(folder, project_id)),
    )
    _tell(tx, project_id)
    return project_id


def relocate(tx: Tx, project_id: str, path: str) -> None:
    """The project's folder lies at another path now; its sessions say so. Raises NotFound, InvalidCommand, Conflict."""
    project = get(tx, project_id)
    if project.id == DEFAULT:
        raise Conflict("The default project has no folder.")
    folder = project_folders.resolved(path)
    if folder == project.path:
        return
    other = tx.one("SELECT name FROM projects WHERE path = ?", (folder,))
    if other is not None:
        raise Conflict(f"This folder is that of another project already: {other[0]}.")
    _move(tx, project, folder)


def _moved_here(tx: Tx, folder: str) -> Project | None:
    """The one project that is known by this folder's mark and whose own folder is gone."""
    mark = project_folders.mark_of(folder)
    if mark is None:
        return None
    rows = tx.all("SELECT id, name, path FROM projects WHERE footprint = ?", (mark,))
    gone = [project for project in map(Project._make, rows) if project.missing]
    return gone[0] if len(gone) == 1 else None


def _move(tx: Tx, project: Project, folder: str) -> None:
    tx.run(
        "UPDATE projects SET path = ?, footprint = ?, updated_at = ?, revision = revision + 1 WHERE id = ?",
        (folder, project_folders.mark(folder, project.id), tx.now, project.id),
    )
    _tell(tx, project.id)
    came = "is" if project.path is None else f"moved from {project.path} to"
    words = f"The folder of the project {project.name} {came} {folder}."
    rows = tx.all("SELECT id FROM threads WHERE project_id = ? AND next_seq > 1 AND deleted_at IS NULL", (project.id,))
    for (thread_id,) in rows:
        thread = tx.thread(thread_id)
        if thread is not None:
            move = not runs.is_active(tx, thread.k)
            notice = {"code": RELOCATED, "text": words}
            tree.append(tx, thread, damage.head(tx, thread), "system_notice", notice, move=move)


def _name_of(folder: str) -> str:
    return (os.path.basename(folder) or folder)[:_NAME]


def _tell(tx: Tx, project_id: str) -> None:
    (revision,) = tx.one("SELECT revision FROM projects WHERE id = ?", (project_id,)) or (1,)
    tx.change("store.changed", id=project_id, revision=revision, detail={"kind": "projects", "id": project_id})
