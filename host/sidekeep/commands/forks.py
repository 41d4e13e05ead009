"""`thread.fork`: a new thread from a node, with the path copied or empty."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.ops.threads import ThreadFork
from sidekeep.store import fork as forking
from sidekeep.store import threads, tree
from sidekeep.store.tx import Tx


def fork(tx: Tx, op: ThreadFork, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    node = tree.find(tx, row, op.at_node_id)
    copy = threads.create(
        tx,
        {
            "parent_thread": row.id,
            "folder_id": row.folder_id,
            "preset": row.preset,
            "project_id": row.project_id,
            "source": row.source,
            "agent_id": row.agent_id,
        },
    )
    if row.title:
        copy.set("title", row.title)
        copy.set("title_source", "first_line")
    if op.copy == "path":
        forking.copy_path(tx, row, node, copy)
    tx.finish()
    return {"threadId": copy.id, "revision": copy.revision}
