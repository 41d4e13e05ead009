"""`sidekeep install`: prints the plan, asks, writes what the plan says."""

import os
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from sidekeep.cli.ask import agreed
from sidekeep.cli.options import Flag, Json, State, must_be_told, places
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.install.install import Request, carry_out, make_plan
from sidekeep.install.machine import this_machine
from sidekeep.install.plan import MakeFolder, Plan

Several = Parameter(consume_multiple=True, negative="")


def install(
    *,
    browser: Annotated[tuple[str, ...], Several] = (),
    user_data_dir: Annotated[tuple[Path, ...], Several] = (),
    extension_id: Annotated[tuple[str, ...], Several] = (),
    remove_extension_id: Annotated[tuple[str, ...], Several] = (),
    state: State = None,
    system: Annotated[bool, Flag] = False,
    dry_run: Annotated[bool, Flag] = False,
    take_over: Annotated[bool, Flag] = False,
    yes: Annotated[bool, Flag] = False,
    json: Json = False,
) -> int:
    """Register the host with the browsers on this machine.

    Parameters
    ----------
    browser
        Register with these browsers only; without it, with those that are present.
    user_data_dir
        Register for a browser that is started with this --user-data-dir.
    extension_id
        Accept this extension too, beside Sidekeep's own.
    remove_extension_id
        No longer accept this extension.
    system
        Register for all users of this machine; needs root.
    dry_run
        Print the plan and write nothing.
    take_over
        Replace another program's file that lies in the way.
    yes
        Do not ask.
    """
    machine = this_machine()
    folder = places(state).state
    request = Request(
        state=Path(folder),
        bake_state=must_be_told(folder),
        browsers=browser,
        user_data_dirs=tuple(Path(os.path.abspath(one.expanduser())) for one in user_data_dir),
        extension_ids=extension_id,
        remove_extension_ids=remove_extension_id,
        system=system,
        take_over=take_over,
    )
    plan = make_plan(machine, request)
    if not json:
        _print(plan, dry_run=dry_run)
    if not dry_run:
        if plan.actions:
            agreed("Write this?", yes=yes or json, chosen=bool(browser or user_data_dir))
        carry_out(machine, request, plan)
        if not json and plan.actions:
            say("Done. `sidekeep doctor` tries it as a browser would.")
    if json:
        emit(_document(plan, done=not dry_run))
    return Status.DONE


def _print(plan: Plan, *, dry_run: bool) -> None:
    if not plan.actions:
        say("Everything is registered as it should be; nothing to write.")
    else:
        say("This would be written:" if dry_run else "This will be written:")
    for action in plan.actions:
        if not isinstance(action, MakeFolder):
            say(f"  {action.sentence}")
    folders = [action.path for action in plan.actions if isinstance(action, MakeFolder)]
    if folders:
        say(f"and these folders made: {', '.join(str(path) for path in folders)}")
    for note in plan.notes:
        say(f"Note: {note}")


def _document(plan: Plan, *, done: bool) -> dict[str, Any]:
    writes = []
    for action in plan.actions:
        entry: dict[str, Any] = {"action": type(action).__name__, "sentence": action.sentence}
        for name in ("path", "mode", "role", "browsers", "hive", "key", "value"):
            if hasattr(action, name):
                value = getattr(action, name)
                entry[name] = f"{value:04o}" if name == "mode" else str(value) if name == "path" else value
        writes.append(entry)
    return {
        "done": done,
        "state": str(plan.state),
        "launcher": str(plan.launcher),
        "extensions": plan.extension_ids,
        "writes": writes,
        "notes": plan.notes,
    }
