"""`sidekeep verify`: checks the whole store and names each fault; `--repair` proposes, then mends."""

import sys
from typing import Annotated, Any

from cyclopts import Parameter

from sidekeep.cli.ask import agreed
from sidekeep.cli.looking import exists
from sidekeep.cli.options import Flag, Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.cli.progress import Line
from sidekeep.model.errors import NotFound
from sidekeep.model.places import Places

SHOWN = 50

Deep = Annotated[bool, Flag, Parameter(help="Read every byte of attachments and what the indexes hold, too.")]
Repair = Annotated[bool, Flag, Parameter(help="Propose how to mend what is found, and do it when agreed.")]
Yes = Annotated[bool, Flag, Parameter(help="Agree to the proposal.")]


def verify(
    *, deep: Deep = False, repair: Repair = False, yes: Yes = False, state: State = None, json: Json = False
) -> int:
    """Check the store: its file, every conversation link by link, bytes, receipts, changes.

    Ends with 0 when all is well or was mended, 1 when something is wrong, 4 when the file itself is damaged.
    """
    where = places(state)
    if not exists(where):
        raise NotFound(f"There is no store in {where.state}: nothing to check.")
    line = Line(wanted=not json)
    try:
        document = _check(where, deep, repair, yes, json, line)
    finally:
        line.clear()
    if json:
        emit(document)
    return _status(document)


def _status(document: dict[str, Any]) -> Status:
    last = document.get("after", document)
    if last["ok"] and document.get("repositories", {}).get("ok", True):
        return Status.DONE
    return Status.STORE if last["unreadable"] else Status.NOT_SO


def _check(where: Places, deep: bool, repair: bool, yes: bool, json: bool, line: Line) -> dict[str, Any]:
    from sidekeep.store import verify as checks
    from sidekeep.store.verify_open import to_check

    with to_check(where) as (db, store):
        report = checks.verify(db, deep=deep, progress=line)
        line.clear()
        document = {**report.shown(), "unreadable": report.unreadable}
        if not json:
            _print(report)
        if store is not None and report.sound:
            _check_repositories(where, store, document, deep, repair, yes, json, line)
        if report.sound or not repair or not _may(yes, json):
            return document
        if store is not None and not report.unreadable:
            from sidekeep.store.bell import announce
            from sidekeep.store.doorway import Doorway
            from sidekeep.store.repair import repair as mend

            done = mend(store, Doorway(store), report, deep=deep, progress=line)
            line.clear()
            announce(where)
            document["repair"] = {"copy": done.copy, "mended": done.mended, "refused": done.refused}
            document["after"] = {**done.left.shown(), "unreadable": done.left.unreadable}
            if not json:
                _print_repair(document)
            return document
    # The file itself is damaged: this process has let it go, and nobody else may use it meanwhile.
    from sidekeep.store.salvage import salvage_store

    saved = salvage_store(where, line, deep=deep)
    line.clear()
    document["repair"] = {
        "copy": saved.copy,
        "placed": saved.placed,
        "rows": saved.salvaged.rows,
        "gaps": [gap._asdict() for gap in _plain(saved.salvaged.gaps)],
        "refused": saved.salvaged.refused,
        "mended": saved.mended,
    }
    document["after"] = {**saved.left.shown(), "unreadable": saved.left.unreadable or not saved.placed}
    if not json:
        _print_salvage(document)
    return document


def _check_repositories(
    where: Places, store: Any, document: dict[str, Any], deep: bool, repair: bool, yes: bool, json: bool, line: Line
) -> None:
    """The Git repositories against a store that is sound."""
    from sidekeep.sessions import compare
    from sidekeep.store.doorway import Doorway

    doorway = Doorway(store)
    found = compare.check(where, doorway.run, line, deep=deep)
    line.clear()
    if not json:
        say(f"{found.checked['repositories']} repositories.")
        for finding in found.findings[:SHOWN]:
            say(f"- {finding.code} [{finding.thread}]: {finding.message}")
            if finding.repair:
                say(f"    repair: {finding.repair}")
    document["repositories"] = found.shown()
    if found.sound or not repair or not _may(yes, json):
        return
    refused: list[str] = []
    mended = compare.mend(where, doorway, found, refused.append)
    left = compare.check(where, doorway.run, line, deep=deep)
    line.clear()
    document["repositories"] = {**left.shown(), "mended": mended, "refused": refused}
    if not json:
        for code, count in mended.items():
            say(f"mended: {count} × {code}")
        for words in refused:
            say(f"not mended: {words}")


def _plain(gaps: Any) -> Any:
    """Gaps whose ends can stand in JSON."""

    def text(end: object) -> object:
        return end.decode("utf-8", "replace") if isinstance(end, bytes) else end

    return [gap._replace(after=text(gap.after), before=text(gap.before)) for gap in gaps]


def _may(yes: bool, json: bool) -> bool:
    """Whether the proposal is agreed to. Without a terminal only `--yes` agrees."""
    if yes:
        return True
    if json or not sys.stdin.isatty():
        if not json:
            say("Nothing was changed: `sidekeep verify --repair --yes` does what is proposed, after a copy.")
        return False
    agreed("Do this? The store is copied first.", yes=False, chosen=False)
    return True


def _print(report: Any) -> None:
    checked = report.checked
    how = "deep check" if report.deep else "check"
    say(
        f"{how.capitalize()} of {checked['threads']} conversations, {checked['nodes']} messages, "
        f"{checked['blobs']} attachments, {checked['receipts']} receipts, {checked['changes']} changes."
    )
    for finding in report.findings[:SHOWN]:
        thread = f" [{finding.thread}]" if finding.thread else ""
        say(f"- {finding.code}{thread}: {finding.message}")
        if finding.repair:
            say(f"    repair: {finding.repair}")
    more = sum(report.faults.values()) - min(len(report.findings), SHOWN)
    if more > 0:
        say(f"… and {more} more: --json names them.")
    if report.remarks["placeholders"]:
        say(f"{report.remarks['placeholders']} messages were lost earlier and are marked.")
    if report.sound:
        say("All is well.")
    else:
        say(f"{sum(report.faults.values())} faults.")


def _print_repair(document: dict[str, Any]) -> None:
    done = document["repair"]
    say(f"The store as it was: {shown(done['copy'])}")
    for code, count in done["mended"].items():
        say(f"mended: {count} × {code}")
    for line in done["refused"]:
        say(f"not mended: {line}")
    _print_after(document["after"])


def _print_salvage(document: dict[str, Any]) -> None:
    done = document["repair"]
    say(f"The damaged file as it was: {shown(done['copy'])}")
    say(f"{sum(done['rows'].values())} rows could be read.")
    for gap in done["gaps"]:
        say(f"lost in {gap['table']}: what lay between {gap['after']} and {gap['before']}")
    for code, count in done["mended"].items():
        say(f"mended: {count} × {code}")
    say("The new file is in place." if done["placed"] else "The new file is damaged too; the store was left as it was.")
    _print_after(document["after"])


def _print_after(after: dict[str, Any]) -> None:
    if after["ok"]:
        say("Checked again: all is well.")
    else:
        say(f"Checked again: {sum(after['faults'].values())} faults are left ({', '.join(after['faults'])}).")
