"""`sidekeep import`: conversations of other programs."""

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sidekeep.cli.options import Flag, Json, State, places
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.cli.progress import Line
from sidekeep.model.errors import InvalidCommand
from sidekeep.sessions.takeover import Item, take_over
from sidekeep.store.bell import announce
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store


def import_(
    source: Annotated[Path, Parameter(help="The state folder of OpenProgram, or a project that holds sessions of it.")],
    /,
    *,
    from_: Annotated[Literal["auto", "openprogram"], Parameter(name="--from")] = "auto",
    dry_run: Annotated[bool, Flag] = False,
    state: State = None,
    json: Json = False,
) -> int:
    """Take over conversations of another program; the folder is only read, and a second time adds nothing.

    Parameters
    ----------
    from_
        What it is from; OpenProgram is what is known so far.
    dry_run
        Only say what would be taken.
    """
    assert from_ in ("auto", "openprogram")
    folder = source.expanduser().absolute()
    if not folder.is_dir():
        raise InvalidCommand(f"{folder} is no folder; name the state folder of OpenProgram, or a project.")
    where = places(state)
    line = Line(wanted=not json)
    try:
        with closing(open_store(where.make())) as store:
            doorway = Doorway(store)
            items = take_over(str(folder), doorway.run, lambda n, total, name: line(name, n, total), dry_run=dry_run)
    finally:
        line.clear()
    if not dry_run:
        announce(where)
    if json:
        emit({"from": "openprogram", "dryRun": dry_run, "items": [asdict(item) for item in items]})
    else:
        _print(items, dry_run)
    return Status.NOT_SO if any(item.state == "refused" for item in items) else Status.DONE


_SAID = {"taken": "taken over", "known": "known already", "refused": "not taken"}


def _print(items: list[Item], dry_run: bool) -> None:
    for item in items:
        said = "would be taken" if dry_run and item.state == "taken" else _SAID[item.state]
        title = printable(item.title or item.name, one_line=True)
        say(f"{item.id}  {said}, {item.messages} messages  {title}")
        for fault in item.faults[:5]:
            say(f"    {printable(fault, one_line=True)}")
