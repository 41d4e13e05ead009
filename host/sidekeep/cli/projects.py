"""`sidekeep projects`: folders that conversations are bound to."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import App, Parameter

from sidekeep.cli.looking import exists, looking
from sidekeep.cli.options import Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.model.places import Places
from sidekeep.store import projects as store_projects
from sidekeep.store.bell import announce
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.projects import Project
from sidekeep.store.tx import Tx

app = App(name="projects", help="Folders that conversations are bound to.", result_action="return_value")
T = TypeVar("T")

Folder = Annotated[Path, Parameter(help="The folder.")]


@app.command(name="list")
def list_projects(*, state: State = None, json: Json = False) -> int:
    """List the projects with their folders; one that is gone is said to be missing."""
    where = places(state)
    found: list[Project] = []
    if exists(where):
        with looking(where) as tx:
            found = store_projects.listing(tx)
    if json:
        emit({"projects": [_told(project) for project in found]})
        return Status.DONE
    for project in found:
        folder = "no folder" if project.path is None else printable(shown(project.path), one_line=True)
        gone = "  [missing]" if project.missing else ""
        say(f"{project.id}  {printable(project.name, one_line=True)}  {folder}{gone}")
    if not found:
        say(f"There is no store in {shown(where.state)} yet.")
    return Status.DONE


@app.command
def create(folder: Folder, /, *, name: str | None = None, state: State = None, json: Json = False) -> int:
    """Make a project for a folder, or find the one that it is already, also after the folder was moved.

    Parameters
    ----------
    name
        Its name; otherwise that of the folder.
    """
    absolute = str(folder.expanduser().absolute())
    project = _write(places(state), lambda tx: store_projects.get(tx, store_projects.create(tx, absolute, name)))
    if json:
        emit({"projectId": project.id, "name": project.name, "path": project.path})
    else:
        say(f"{project.id}  {printable(project.name, one_line=True)}")
    return Status.DONE


@app.command
def relocate(project: str, folder: Folder, /, *, state: State = None, json: Json = False) -> int:
    """Say where the folder of a project lies now.

    Parameters
    ----------
    project
        The project's id, as `sidekeep projects list` prints it.
    """
    absolute = str(folder.expanduser().absolute())
    _write(places(state), lambda tx: store_projects.relocate(tx, project, absolute))
    if json:
        emit({"projectId": project, "path": absolute})
    else:
        say(f"The project lies at {printable(shown(absolute), one_line=True)} now.")
    return Status.DONE


def _write(where: Places, decide: Callable[[Tx], T]) -> T:
    with closing(open_store(where.make())) as store:
        done: T = Doorway(store).run(decide)
    announce(where)
    return done


def _told(project: Project) -> dict[str, Any]:
    told: dict[str, Any] = {"id": project.id, "name": project.name}
    if project.path is not None:
        told["path"] = project.path
        if project.missing:
            told["missing"] = True
    return told
