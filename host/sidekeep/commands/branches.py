"""`thread.selectBranch`, `branch.list`, `branch.delete`."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.ops import BranchDelete, BranchList, ThreadSelectBranch
from sidekeep.store import branches, runs, threads, tree
from sidekeep.store.tx import Tx


def select(tx: Tx, op: ThreadSelectBranch, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    runs.refuse_while_active(tx, row)
    node = tree.find(tx, row, op.node_id)
    leaf = tree.set_active_head(tx, row, tree.default_leaf(tx, row, node.k))
    return {"leafId": leaf}


def listing(tx: Tx, op: BranchList, _ctx: Context) -> dict[str, Any]:
    return {"branches": branches.listing(tx, threads.live(tx, op.thread_id))}


def delete(tx: Tx, op: BranchDelete, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    runs.refuse_while_active(tx, row)
    leaf = tree.find(tx, row, op.leaf_id)
    tail = branches.tail(tx, row, leaf)
    if not tail:
        raise InvalidCommand("leafId: is not the tip of a branch; other messages follow it.")
    for node in tail:
        tx.run(tree.sql.set_deleted, (1, node.k))
        tx.change("thread.node", row.id, node.id, node.seq)
    if any(node.k == row.leaf for node in tail):
        above = tree.visible_parent(tx, tail[-1])
        leaf_key = None if above is None else tree.default_leaf(tx, row, above.k)
        tree.set_active_head(tx, row, leaf_key if leaf_key is not None else leaf.k)
    return {"leafId": row.leaf_id}
