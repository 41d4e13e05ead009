"""`sync.start` and `sync.status`: synchronisation with a Git remote, which the runner does."""

from typing import Any

from sidekeep.commands import jobs
from sidekeep.commands.context import Context, given
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.ops.keeping import SyncStart, SyncStatus
from sidekeep.model.remote_url import checked
from sidekeep.store import sync_state
from sidekeep.store.tx import Tx


def start(tx: Tx, op: SyncStart, ctx: Context) -> dict[str, Any]:
    remote = given(op.remote)
    if remote is None:
        known = sync_state.last(tx)
        if known is None:
            raise InvalidCommand("remote: name one; nothing was synchronised yet.")
        remote = known[0]
    return jobs.begin(tx, ctx, "sync", {"remote": checked(remote)})


def status(tx: Tx, _op: SyncStatus, _ctx: Context) -> dict[str, Any]:
    known = sync_state.last(tx)
    if known is None:
        return {"remote": None}
    remote, at = known
    return {"remote": remote, "lastAt": at, "ahead": sync_state.ahead(tx, remote)}
