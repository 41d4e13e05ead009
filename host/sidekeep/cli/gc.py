"""`sidekeep gc`: lets go what the store needs no more, and says how much it was."""

from contextlib import closing
from typing import Any

from sidekeep.cli.looking import exists
from sidekeep.cli.options import Json, State, places
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.cli.progress import Line
from sidekeep.model.errors import NotFound

_SAID = (
    ("evicted", "captured files over the quota"),
    ("threads", "conversations whose time in the trash was over"),
    ("uploads", "uploads that nobody finished"),
    ("orphans", "files that nothing named"),
    ("receipts", "receipts whose time was over"),
    ("changes", "old entries of the list of changes"),
)


def gc(*, state: State = None, json: Json = False) -> int:
    """Make room: quota, trash, expired receipts, orphaned bytes; then give free pages back to the disk.

    Nothing goes that the store would keep: the same is done in small steps whenever nobody works.
    """
    where = places(state)
    if not exists(where):
        raise NotFound(f"There is no store in {where.state}: nothing to let go.")
    from sidekeep.store.bell import announce
    from sidekeep.store.collect import collect, compact
    from sidekeep.store.doorway import Doorway
    from sidekeep.store.opener import open_store

    line = Line(wanted=not json)
    try:
        with closing(open_store(where)) as store:
            done: dict[str, Any] = dict(collect(store, Doorway(store), line))
            done["pages"] = compact(store, line)
    finally:
        line.clear()
    announce(where)
    if json:
        emit(done)
    else:
        _print(done)
    return Status.DONE


def _print(done: dict[str, Any]) -> None:
    for name, what in _SAID:
        if done[name]:
            say(f"{done[name]} {what}")
    pages = done["pages"]
    say(f"{_size(done['bytes'])} of attachments freed, {_size(pages['returnedBytes'])} given back to the disk.")
    if "kept" in pages and pages["freeBytes"]:
        say(f"{_size(pages['freeBytes'])} of free pages stay in the file: {pages['kept']}.")


def _size(count: int) -> str:
    return f"{count / 1024 / 1024:.1f} MiB" if count >= 1024 * 1024 else f"{count / 1024:.0f} KiB"
