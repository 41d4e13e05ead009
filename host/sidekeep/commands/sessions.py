"""`session.commits`, `session.rewind`, `session.undoRewind`: what was committed of a conversation, and going back."""

from typing import Any

from sidekeep.commands import jobs
from sidekeep.commands.context import Context, given
from sidekeep.model.limits import LIST_DEFAULT
from sidekeep.model.ops.keeping import SessionCommits, SessionRewind, SessionUndoRewind
from sidekeep.store import runs, session_repos, threads, tree
from sidekeep.store.tx import Tx


def rewind(tx: Tx, op: SessionRewind, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    runs.refuse_while_active(tx, row)
    tree.find(tx, row, op.node_id)
    params = {"threadId": row.id, "nodeId": op.node_id, "dryRun": op.dry_run, "files": given(op.files, True)}
    return jobs.begin(tx, ctx, "session.rewind", params)


def undo_rewind(tx: Tx, op: SessionUndoRewind, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    runs.refuse_while_active(tx, row)
    return jobs.begin(tx, ctx, "session.undoRewind", {"threadId": row.id, "undoId": op.undo_id})


def commits(tx: Tx, op: SessionCommits, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    found = session_repos.commits(tx, row.k, given(op.limit, LIST_DEFAULT))
    return {
        "commits": [
            {"id": commit.id, "message": commit.message, "ts": commit.ts, "turnId": commit.turn_id} for commit in found
        ]
    }
