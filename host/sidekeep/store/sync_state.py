"""What is known of the remotes: the commit of each session that was there last, and what was removed for good."""

from typing import NamedTuple

from sidekeep.store import jobs, settings
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)


class Head(NamedTuple):
    """A session's commit on a remote; `purged` when it was removed there for good."""

    commit_id: str
    purged: bool


def heads(tx: Tx, remote: str) -> dict[str, Head]:
    """Session → what was on this remote after the last time."""
    return {thread: Head(commit, bool(purged)) for thread, commit, purged in tx.all(sql.heads, (remote,))}


def head_is(tx: Tx, remote: str, thread_id: str, commit_id: str, *, purged: bool = False) -> None:
    tx.run(sql.head_is, (remote, thread_id, commit_id, int(purged)))


def purges(tx: Tx) -> set[str]:
    """Every conversation that was removed here for good."""
    return {row[0] for row in tx.all("SELECT thread FROM sync_purges")}


def finished(tx: Tx, remote: str) -> None:
    """The whole of a synchronisation is done."""
    tx.run("INSERT OR REPLACE INTO sync_remotes (remote, last_at) VALUES (?, ?)", (remote, tx.now))
    tx.change("store.changed", id="sync", detail={"kind": "sync", "id": "sync"})


def last(tx: Tx) -> tuple[str, int] | None:
    """The remote that was used last, and when."""
    row = tx.one("SELECT remote, last_at FROM sync_remotes ORDER BY last_at DESC LIMIT 1")
    return None if row is None else (str(row[0]), int(row[1]))


def due(tx: Tx) -> str | None:
    """The remote whose time has come by the setting `sync.minutes`; None where it is done by hand, or under way."""
    minutes = int(settings.get(tx, "sync.minutes"))
    known = last(tx) if minutes else None
    if known is None or tx.now - known[1] < minutes * 60_000:
        return None
    return None if tx.one(sql.tried, (tx.now - minutes * 60_000,)) is not None else known[0]


def begin_due(tx: Tx) -> bool:
    """Admit the job of a synchronisation that is due; whether there was one."""
    remote = due(tx)
    if remote is not None:
        jobs.admit(tx, "sync", {"remote": remote})
    return remote is not None


def ahead(tx: Tx, remote: str) -> int:
    """How many sessions hold something that this remote does not have yet."""
    return int((tx.one(sql.ahead, (remote,)) or (0,))[0])


def commits(tx: Tx) -> dict[str, str]:
    """Session → the commit that its repository was noted to be at."""
    return dict(tx.all(sql.commits))
