"""`thread.selectBranch`, `branch.list`, `branch.delete`."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.ops.threads import BranchDelete, BranchList, ThreadSelectBranch
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
    # The leaf may lie below the tip, on tombstones.
    in_view = tree.is_on_active_path(tx, row, leaf.k)
    for node in tail:
        tx.run(tree.sql.set_deleted, (1, node.k))
        tx.change("thread.node", row.id, node.id, node.seq)
    row.touch()
    if in_view:
        above = tree.visible_parent(tx, tail[-1])
        left = tree.default_leaf(tx, row, tree.first_key(row.k) if above is None else above.k)
        tree.set_active_head(tx, row, leaf.k if left is None else left)
    return {"leafId": row.leaf_id}
