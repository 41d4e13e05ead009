"""`thread.delete`, `thread.restore`: into the trash and out of it, or for good (first document §3.3)."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import NotFound
from sidekeep.model.ops.threads import ThreadDelete, ThreadRestore
from sidekeep.store import purge, runs
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx


def delete(tx: Tx, op: ThreadDelete, ctx: Context) -> dict[str, Any]:
    row = tx.thread(op.thread_id)
    if row is None:
        raise NotFound(f"No thread {op.thread_id}.")
    if row.deleted_at is not None and not op.purge:
        return {}
    # A delete waits for no other process: every transaction of the runner names the fence that it saw.
    row.set("fence", row.fence + 1)
    _end_runs(tx, row)
    if op.purge:
        purge.thread(tx, row)
    else:
        row.set("deleted_at", tx.now)
        row.set("status", "idle")
        tx.finish()  # others hear of the row before they hear that it is gone
    tx.change("thread.deleted", op.thread_id, detail={"purged": op.purge})
    ctx.work = True
    return {}


def _end_runs(tx: Tx, row: ThreadRow) -> None:
    runs.settle_partial(tx, row)
    for run in runs.open_of_thread(tx, row.k):
        runs.set_state(tx, run, "interrupted", stop_reason="interrupted", finished_at=tx.now, interrupt_requested=1)
    for table in ("approvals", "interactions"):
        tx.run(f"UPDATE {table} SET status = 'cancelled' WHERE thread = ? AND status = 'pending'", (row.k,))


def restore(tx: Tx, op: ThreadRestore, _ctx: Context) -> dict[str, Any]:
    row = tx.thread(op.thread_id)
    if row is None:
        raise NotFound(f"No thread {op.thread_id}; it may have been purged.")
    if row.deleted_at is not None:
        row.set("deleted_at", None)
        tx.finish()
        tx.change("thread.created", row.id, None, row.revision)
    return {"threadId": row.id, "revision": row.revision}
