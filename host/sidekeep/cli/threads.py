"""`sidekeep threads`: the conversations, the newest first."""

import time
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from sidekeep.cli.looking import exists, left_behind, looking
from sidekeep.cli.options import Flag, Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.model.limits import LIST_DEFAULT, SAFE_INTEGER
from sidekeep.model.places import Places
from sidekeep.store import threads as store_threads


def threads(
    *,
    archived: Annotated[bool, Flag] = False,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=SAFE_INTEGER))] = LIST_DEFAULT,
    state: State = None,
    json: Json = False,
) -> int:
    """List the conversations, the newest first.

    Parameters
    ----------
    archived
        Those that were put aside, instead of the others.
    limit
        At most so many.
    """
    where = places(state)
    page = _read(where, archived=archived, limit=limit) if exists(where) else {"threads": [], "cursor": None}
    if json:
        emit(page)
        return Status.DONE
    if not page["threads"]:
        say(f"There are no {'archived ' if archived else ''}conversations in {shown(where.state)}.")
    for thread in page["threads"]:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(thread["updatedAt"] / 1000))
        status = "" if thread["status"] == "idle" else f"  [{thread['status'].replace('_', ' ')}]"
        say(f"{thread['id']}  {day}  {printable(thread['title'] or 'Untitled', one_line=True)}{status}")
    if page["cursor"] is not None:
        say(f"More are kept: --limit {limit * 4} shows them.")
    return Status.DONE


def _read(where: Places, *, archived: bool, limit: int) -> dict[str, Any]:
    with looking(where) as tx:
        page = store_threads.listing(tx, limit=limit, archived=archived)
        dead = set(left_behind(tx, where).values())
    for thread in page["threads"]:
        if thread["id"] in dead:
            thread["status"] = "interrupted"
    return page
