"""`sidekeep sessions`: the Git repositories of the conversations."""

import time
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sidekeep.cli.looking import exists, looking, the_thread
from sidekeep.cli.options import Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.model.errors import NotFound
from sidekeep.model.limits import LIST_DEFAULT, LIST_MAX
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
