"""`sidekeep sync`: unites the conversations with a Git remote."""

import os
from contextlib import closing
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from sidekeep.cli.looking import exists
from sidekeep.cli.options import Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.cli.progress import Line
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.sessions.sync import Report, Sync
from sidekeep.store import sync_state
from sidekeep.store.bell import announce
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store


def sync(
    remote: Annotated[
        str | None, Parameter(help="A folder, or a URL of ssh or https; otherwise the one used last.")
    ] = None,
    /,
    *,
    state: State = None,
    json: Json = False,
) -> int:
    """Unite the conversations with a Git remote: what was written here goes there, and the other way round."""
    where = places(state)
    if remote is None and not exists(where):
        raise NotFound(f"There is no store in {shown(where.state)} yet; name a remote to fetch conversations from.")
    line = Line(wanted=not json)
    with closing(open_store(where.make())) as store:
        doorway = Doorway(store)
        if remote is None:
            known = doorway.run(sync_state.last)
            if known is None:
                raise InvalidCommand("Nothing was synchronised yet; name a remote.")
            remote = known[0]
        elif os.path.isdir(os.path.expanduser(remote)) and "://" not in remote:
            remote = os.path.abspath(os.path.expanduser(remote))
        try:
            work = Sync(
                where, doorway.run, doorway.run, lambda _line: None, lambda done, total, note: line(note, done, total)
            )
            done = work.run(remote)
        finally:
            line.clear()
            announce(where)
    if json:
        emit(asdict(done))
    else:
        _print(done)
    return Status.NOT_SO if done.faults else Status.DONE


def _unheard(_line: str) -> None:
    """What concerns one repository is in the report."""


def _print(done: Report) -> None:
    say(
        f"{done.sessions} conversations: {done.sent} sent, {done.received} received "
        f"({done.nodes} messages, {done.uploads} files), {done.removed} removed."
    )
    for session_id, faults in done.faults.items():
        for fault in faults:
            say(f"{session_id}: {printable(fault, one_line=True)}")
