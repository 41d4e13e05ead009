"""`sidekeep status`: where the store is, what is in it, and which processes are alive."""

import os
import time
from typing import Any

from sidekeep import __version__
from sidekeep.cli import processes
from sidekeep.cli.looking import exists, looking
from sidekeep.cli.options import Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, say, status_of
from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.store import figures, place, quota


def status(*, state: State = None, json: Json = False) -> int:
    """Print where the store is, what is in it, and which processes are alive."""
    where = places(state)
    report = _report(where)
    if json:
        emit(report)
    else:
        _print(report)
    return int(report["error"]["status"]) if "error" in report else Status.DONE


def _report(where: Places) -> dict[str, Any]:
    """Everything that can be said; a store that is refused still has its place, its size and its processes."""
    runner = processes.runner(where)
    report: dict[str, Any] = {
        "version": __version__,
        "sqlite": _sqlite(),
        "state": where.state,
        "hosts": [_who(host) for host in processes.hosts(where)],
        "runner": None if runner is None else _who(runner),
        "store": None,
        "lastBackup": _last_backup(where),
        "warnings": place.warnings(where.state),
    }
    if not exists(where):
        return report
    report["store"] = {
        "path": where.database,
        "databaseBytes": processes.size(where.database),
        "logBytes": processes.size(where.database + "-wal"),
    }
    try:
        with looking(where) as tx:
            usage = quota.usage(tx)
            report["store"]["schemaVersion"] = figures.schema_version(tx)
            report["counts"] = figures.counts(tx)
    except SidekeepError as error:
        report["error"] = {"code": error.code, "message": error.message, "status": int(status_of(error))}
        return report
    report["quota"] = {
        "evictableBytes": usage.evictable_bytes,
        "limitBytes": usage.limit,
        "attachmentsBytes": usage.all_bytes,
    }
    return report


def _who(process: dict[str, Any]) -> dict[str, Any]:
    return {"pid": process["pid"], "version": process.get("version", "")}


def _sqlite() -> str:
    from sidekeep.store.connection import sqlite_version

    return sqlite_version()


def _last_backup(where: Places) -> dict[str, Any] | None:
    """The newest whole file of the folder of backups."""
    try:
        with os.scandir(where.backups) as entries:
            found = [entry for entry in entries if entry.is_file() and not entry.name.startswith(".")]
    except FileNotFoundError:
        return None
    if not found:
        return None
    newest = max(found, key=lambda entry: entry.stat().st_mtime)
    about = newest.stat()
    return {"path": newest.path, "createdAt": int(about.st_mtime * 1000), "bytes": about.st_size}


def _print(report: dict[str, Any]) -> None:
    say(f"Sidekeep {report['version']}, SQLite {report['sqlite']}")
    store = report["store"]
    if store is None:
        say(f"Store: none yet in {shown(report['state'])}")
    else:
        say(f"Store: {shown(store['path'])}, {_size(store['databaseBytes'])} and {_size(store['logBytes'])} of log")
    for warning in report["warnings"]:
        say(f"Warning: {warning['message']}")
    if "error" in report:
        say(f"It cannot be read: {report['error']['message']}")
    if "counts" in report:
        counts = report["counts"]
        archived = f" ({counts['archived']} archived)" if counts["archived"] else ""
        say(f"Conversations: {counts['threads']}{archived}, {counts['trash']} in the trash; {counts['nodes']} nodes")
        say(f"Answers: {counts['activeRuns']} being written, {counts['queuedRuns']} waiting")
        say(f"Pages: {counts['pages']}; attachments: {counts['attachments']}")
        limits = report["quota"]
        say(f"Room for what may be evicted: {_size(limits['evictableBytes'])} of {_size(limits['limitBytes'])} used")
    backup = report["lastBackup"]
    if backup is None:
        say("Last backup: none")
    else:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(backup["createdAt"] / 1000))
        say(f"Last backup: {when}, {shown(backup['path'])}")
    for host in report["hosts"]:
        say(f"Host: process {host['pid']}, version {host['version']}")
    if not report["hosts"]:
        say("Host: none is running; a browser starts one when the side panel opens")
    runner = report["runner"]
    say("Runner: none is needed" if runner is None else f"Runner: process {runner['pid']}, version {runner['version']}")


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
