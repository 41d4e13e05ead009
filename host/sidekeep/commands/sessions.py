"""`session.commits`: what the archive has made of a conversation."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.limits import LIST_DEFAULT
from sidekeep.model.ops.keeping import SessionCommits
from sidekeep.store import session_repos, threads
from sidekeep.store.tx import Tx


def commits(tx: Tx, op: SessionCommits, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    found = session_repos.commits(tx, row.k, given(op.limit, LIST_DEFAULT))
    return {
        "commits": [
            {"id": commit.id, "message": commit.message, "ts": commit.ts, "turnId": commit.turn_id} for commit in found
        ]
    }
