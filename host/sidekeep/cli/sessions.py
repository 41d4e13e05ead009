"""`sidekeep sessions`: the Git repositories of the conversations."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sidekeep.cli.looking import exists, looking, the_thread
from sidekeep.cli.options import Flag, Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.cli.progress import Line
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.model.ids import new_id
from sidekeep.model.limits import LIST_DEFAULT, LIST_MAX
from sidekeep.model.places import Places
from sidekeep.sessions import rebuild as rebuilding
from sidekeep.sessions import registry
from sidekeep.sessions import rewind as rewinding
from sidekeep.sessions.layout import Layout
from sidekeep.store import session_repos
from sidekeep.store.bell import announce
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx

app = App(name="sessions", help="The conversations' Git repositories.", result_action="return_value")

Session = Annotated[str, Parameter(help="The conversation's id, or as much of its beginning as tells it.")]
Limit = Annotated[int, Parameter(validator=Number(gte=1, lte=LIST_MAX))]


@app.command(name="list")
def list_sessions(*, limit: Limit = LIST_DEFAULT, state: State = None, json: Json = False) -> int:
    """List the conversations with their repositories, the newest first.

    Parameters
    ----------
    limit
        At most so many.
    """
    where = places(state)
    found: list[dict[str, Any]] = []
    if exists(where):
        layout = Layout(where.sessions)
        paths = registry.locations(layout)
        with looking(where) as tx:
            for row in session_repos.newest(tx, limit):
                relative = paths.get(str(row["id"]))
                found.append({**row, "path": None if relative is None else layout.path(relative)})
    if json:
        emit({"sessions": found})
        return Status.DONE
    if not found:
        say(f"There are no conversations in {shown(where.state)}.")
    for row in found:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["updatedAt"] / 1000))
        behind = "  [not all is committed yet]" if row["behind"] else ""
        title = printable(row["title"] or "Untitled", one_line=True)
        say(f"{row['id']}  {day}  {row['commits']:>5} commits  {title}{behind}")
    return Status.DONE


@app.command
def commits(session: Session, /, *, limit: Limit = LIST_DEFAULT, state: State = None, json: Json = False) -> int:
    """List the commits of a conversation, the newest first: one for each turn, with its model and usage.

    Parameters
    ----------
    limit
        At most so many.
    """
    with looking(places(state)) as tx:
        found = session_repos.commits(tx, the_thread(tx, session).k, limit)
    if json:
        rows = [{"id": made.id, "message": made.message, "ts": made.ts, "turnId": made.turn_id} for made in found]
        emit({"commits": rows})
        return Status.DONE
    if not found:
        say("Nothing is committed yet; the runner does that after each turn.")
    for made in found:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(made.ts / 1000))
        say(f"{made.id[:10]}  {day}  {printable(made.message.splitlines()[0], one_line=True)}")
    return Status.DONE


@app.command
def path(session: Session, /, *, state: State = None, json: Json = False) -> int:
    """Print where the repository of a conversation lies, for `git -C "$(sidekeep sessions path ID)" log`."""
    where = places(state)
    with looking(where) as tx:
        session_id = the_thread(tx, session).id
    layout = Layout(where.sessions)
    relative = registry.locations(layout).get(session_id)
    if relative is None:
        raise NotFound("This conversation has no repository yet; the runner makes it after the first turn.")
    if json:
        emit({"id": session_id, "path": layout.path(relative)})
    else:
        say(layout.path(relative))
    return Status.DONE


@app.command
def rebuild(
    *,
    database: Annotated[bool, Flag] = False,
    repositories: Annotated[bool, Flag] = False,
    replace: Annotated[bool, Flag] = False,
    state: State = None,
    json: Json = False,
) -> int:
    """Make the database from the repositories where it is lost, or bring the repositories up to the database.

    Parameters
    ----------
    database
        Make the database from the repositories: conversations, messages, tombstones, the files that you sent. It is
        what is done when there is no database.
    repositories
        Bring the repositories up to the database. It is what is done when there is a database.
    replace
        With --database: put the database that is there aside, into backups/, and make a new one.
    """
    where = places(state)
    if database and repositories:
        raise InvalidCommand("Name one of --database and --repositories.")
    if not exists(where) and not registry.locations(Layout(where.sessions)):
        raise NotFound(f"There is neither a database nor a repository in {shown(where.state)}.")
    line = Line(wanted=not json)

    def progress(number: int, total: int, session_id: str) -> None:
        line(f"{number} of {total}: {session_id}", number, total)

    try:
        if database or not (exists(where) or repositories):
            done = rebuilding.database(where, progress, replace=replace)
        else:
            done = rebuilding.repositories(where, progress)
    finally:
        line.clear()
    if json:
        emit(asdict(done))
    else:
        _say_rebuilt(done)
    return Status.NOT_SO if done.faults else Status.DONE


def _say_rebuilt(done: rebuilding.Report) -> None:
    what = f", {done.nodes} messages, {done.uploads} files" if done.nodes else f", {done.commits} commits"
    say(f"{done.sessions} conversations{what}.")
    if done.kept is not None:
        say(f"The database that was there lies in {shown(done.kept)}.")
    for session_id, faults in done.faults.items():
        for fault in faults:
            say(f"{session_id}: {printable(fault, one_line=True)}")


class _Here:
    """A rewind that is done in this process, with the store open."""

    def __init__(self, where: Places, doorway: Doorway, params: dict[str, Any]) -> None:
        self.id = new_id()
        self.params = params
        self.position: Any = None
        self.places = where
        self._doorway = doorway

    def read(self, look: Callable[[Tx], Any]) -> Any:
        return self._doorway.run(look)

    def step(self, position: object, *, write: Callable[[Tx], Any] | None = None, **_progress: Any) -> Any:
        self.position = position
        return None if write is None else self._doorway.run(write)


@app.command
def rewind(
    session: Session,
    message: Annotated[str | None, Parameter(help="The id of the message of yours that is taken back.")] = None,
    /,
    *,
    dry_run: Annotated[bool, Flag] = False,
    keep_files: Annotated[bool, Flag] = False,
    undo: str | None = None,
    state: State = None,
    json: Json = False,
) -> int:
    """Take a message back with all that followed: files of the project as they were, the head before the message.

    Parameters
    ----------
    dry_run
        Only list what would be done.
    keep_files
        Leave the files of the project as they are.
    undo
        Take a rewind back instead: the id that it printed.
    """
    if (message is None) == (undo is None):
        raise InvalidCommand("Name the message that is to be taken back, or with --undo the rewind.")
    where = places(state)
    with looking(where) as tx:
        session_id = the_thread(tx, session).id
    with closing(open_store(where)) as store:
        if undo is not None:
            work = _Here(where, Doorway(store), {"threadId": session_id, "undoId": undo})
            done = rewinding.undo_rewind(work)
        else:
            params = {"threadId": session_id, "nodeId": message, "dryRun": dry_run, "files": not keep_files}
            done = rewinding.rewind(_Here(where, Doorway(store), params))
    announce(where)
    if json:
        emit(done)
        return Status.DONE
    for file in done["files"]:
        since = "  [changed since the turn]" if file.get("changedSince") else ""
        say(f"{file['action']}  {printable(file['path'], one_line=True)}{since}")
    if dry_run:
        say("Nothing was done yet.")
    elif undo is None:
        again = f"sidekeep sessions rewind {session_id} --undo {done['undoId']}"
        say(f"Taken back. This brings everything forth again: {again}")
    else:
        say("Everything is as it was before the rewind.")
    return Status.DONE
