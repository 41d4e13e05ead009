"""`thread.delete`, `thread.restore`: into the trash and out of it, or for good (first document §3.3)."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import NotFound
from sidekeep.model.ops.threads import ThreadDelete, ThreadRestore
from sidekeep.store import trash
from sidekeep.store.tx import Tx


def delete(tx: Tx, op: ThreadDelete, ctx: Context) -> dict[str, Any]:
    row = tx.thread(op.thread_id)
    if row is None:
        raise NotFound(f"No thread {op.thread_id}.")
    if row.deleted_at is not None and not op.purge:
        return {}
    trash.delete(tx, row, purge=op.purge)
    ctx.work = True
    return {}


def restore(tx: Tx, op: ThreadRestore, _ctx: Context) -> dict[str, Any]:
    row = tx.thread(op.thread_id)
    if row is None:
        raise NotFound(f"No thread {op.thread_id}; it may have been purged.")
    if row.deleted_at is not None:
        row.set("deleted_at", None)
        tx.finish()
        tx.change("thread.created", row.id, None, row.revision)
    return {"threadId": row.id, "revision": row.revision}
