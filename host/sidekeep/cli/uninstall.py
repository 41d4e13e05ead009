"""`sidekeep uninstall`: takes away the installer's writes; the store stays unless it is asked for."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sidekeep.cli.ask import agreed
from sidekeep.cli.options import Flag, Json, State, places
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.install import purge as purging
from sidekeep.install.install import program_folder
from sidekeep.install.machine import this_machine
from sidekeep.install.receipt import FileWritten, KeySet, OriginAdded
from sidekeep.install.uninstall import Removal, carry_out, make_removal
from sidekeep.model.errors import NotFound


def uninstall(
    *,
    browser: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    purge: Annotated[bool, Flag] = False,
    state: State = None,
    system: Annotated[bool, Flag] = False,
    dry_run: Annotated[bool, Flag] = False,
    yes: Annotated[bool, Flag] = False,
    json: Json = False,
) -> int:
    """Take away exactly what `install` wrote.

    Parameters
    ----------
    browser
        Only the registrations of these browsers.
    purge
        Remove the store as well: every conversation, page and key.
    system
        The registration for all users; needs root.
    dry_run
        Print what would go and remove nothing.
    yes
        Do not ask.
    """
    machine = this_machine()
    where = places(state)
    folder = program_folder(machine, Path(where.state), system=system)
    try:
        removal = make_removal(machine, folder, browser)
    except NotFound:
        if not purge:
            raise
        removal = Removal()
    lines = _lines(removal)
    if purge:
        purging.check(where)
        lines.append(f"{where.state} with every conversation, page and key in it")
    if not json:
        say("This would be removed:" if dry_run else "This will be removed:")
        for line in lines:
            say(f"  {line}")
        for line in removal.changed:
            say(f"Note: {line}.")
    if not dry_run:
        agreed("Remove this?", yes=yes or json, chosen=not purge)
        if removal.going:
            carry_out(machine, Path(where.state), folder, removal)
        if purge:
            purging.purge(where)
    if json:
        emit({"done": not dry_run, "removed": lines, "left": removal.changed})
    return Status.NOT_SO if removal.changed else Status.DONE


def _lines(removal: Removal) -> list[str]:
    lines = []
    for entry in removal.going:
        match entry:
            case FileWritten(path=path):
                lines.append(path)
            case KeySet(hive=hive, key=key):
                lines.append(f"{hive}\\{key}")
            case OriginAdded(extension_id=extension_id):
                lines.append(f"the acceptance of the extension {extension_id}")
    return lines
