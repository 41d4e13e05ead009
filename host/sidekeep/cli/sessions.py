"""`sidekeep sessions`: the Git repositories of the conversations."""

import time
from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sidekeep.cli.looking import exists, looking, the_thread
from sidekeep.cli.options import Flag, Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.cli.progress import Line
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.model.limits import LIST_DEFAULT, LIST_MAX
from sidekeep.sessions import rebuild as rebuilding
from sidekeep.sessions import registry
from sidekeep.sessions.layout import Layout
from sidekeep.store import session_repos

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
