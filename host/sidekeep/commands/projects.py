"""`project.list`, `project.create`, `project.relocate`."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.ops.keeping import ProjectCreate, ProjectList, ProjectRelocate
from sidekeep.store import projects
from sidekeep.store.tx import Tx


def listing(tx: Tx, _op: ProjectList, _ctx: Context) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for project in projects.listing(tx):
        told: dict[str, Any] = {"id": project.id, "name": project.name}
        if project.path is not None:
            told["path"] = project.path
            if project.missing:
                told["missing"] = True
        found.append(told)
    return {"projects": found}


def create(tx: Tx, op: ProjectCreate, _ctx: Context) -> dict[str, Any]:
    return {"projectId": projects.create(tx, op.path, given(op.name))}


def relocate(tx: Tx, op: ProjectRelocate, _ctx: Context) -> dict[str, Any]:
    projects.relocate(tx, op.project_id, op.path)
    return {}
