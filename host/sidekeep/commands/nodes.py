"""`node.append`, `node.delete`, `node.restore`: what is added by hand, tombstones and their undo."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.ops.threads import NodeAppend, NodeDelete, NodeRestore
from sidekeep.store import damage, runs, threads, titles, tree
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx


def append(tx: Tx, op: NodeAppend, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    if op.node_type != "system_notice":
        runs.make_way(tx, row)
    parent_id = given(op.parent_id)
    parent = damage.head(tx, row) if parent_id is None else tree.find(tx, row, parent_id).k
    # A notice beside a running answer must not take the place that the answer will grow from.
    move = op.node_type != "system_notice" or not runs.is_active(tx, row.k)
    node = tree.append(tx, row, parent, op.node_type, ctx.plain["payload"], move=move)
    if op.node_type == "user_message":
        titles.name_by_first_line(row, ctx.plain["payload"])
    return {"nodeId": node.id, "seq": node.seq}


def delete(tx: Tx, op: NodeDelete, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    node = tree.find(tx, row, op.node_id)
    if tree.is_on_active_path(tx, row, node.k):
        runs.refuse_while_active(tx, row)
    _mark(tx, row, node, 1)
    return {}


def restore(tx: Tx, op: NodeRestore, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    _mark(tx, row, tree.find(tx, row, op.node_id), 0)
    return {}


def _mark(tx: Tx, row: ThreadRow, node: tree.Node, deleted: int) -> None:
    if node.deleted != deleted:
        tx.run(tree.sql.set_deleted, (deleted, node.k))
        tx.change("thread.node", row.id, node.id, node.seq)
        row.touch()
