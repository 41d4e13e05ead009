"""`sidekeep doctor`: prints each hop between a browser and the host; status 1 when one does not hold."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sidekeep.cli.options import Flag, Json, State, must_be_told, places
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.install.doctor import Report, examine, repair
from sidekeep.install.install import carry_out, make_plan
from sidekeep.install.machine import this_machine


def doctor(
    *,
    browser: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    fix: Annotated[bool, Flag] = False,
    state: State = None,
    system: Annotated[bool, Flag] = False,
    json: Json = False,
) -> int:
    """Go the browser's way to the host and name the first hop that fails.

    Parameters
    ----------
    browser
        Examine these browsers only, registered or not.
    fix
        Write again what is missing or out of date, then examine once more.
    system
        Examine the registration for all users.
    """
    machine = this_machine()
    folder = Path(places(state).state)
    report = examine(machine, folder, browser, system=system)
    if fix and not report.ok:
        request = repair(machine, folder, report, system=system, bake_state=must_be_told(str(folder)))
        if request is not None:
            carry_out(machine, request, make_plan(machine, request))
            report = examine(machine, folder, browser, system=system)
    if json:
        emit(report)
    else:
        _print(report)
    return Status.DONE if report.ok else Status.NOT_SO


def _print(report: Report) -> None:
    for registration in report.registrations:
        say(f"{registration.browser}:")
        for hop in registration.hops:
            mark = "ok  " if hop.ok else "FAIL"
            say(f"  {mark} {hop.name}: {hop.detail or hop.path}")
    for note in report.notes:
        say(f"Note: {note}")
    if report.failed is not None:
        say(f"First failing hop: {report.failed.name}. To mend it: {report.failed.fix}.")
    else:
        say("Every hop holds.")
