"""`turn.fork`: edit and resend, or regenerate; both grow a sibling (first document §3.2)."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.commands.submit import admit, append_user_message
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.ops.turns import TurnFork
from sidekeep.store import runs, threads, tree
from sidekeep.store.damage import is_readable
from sidekeep.store.tx import Tx


def fork(tx: Tx, op: TurnFork, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    runs.make_way(tx, row)
    node = tree.find(tx, row, op.sibling_of_node_id)
    turn_input = ctx.plain.get("input")
    if turn_input is None:
        return _regenerate(tx, row, ctx, node)
    if node.type != "user_message":
        raise InvalidCommand("input: only a user's message can be edited; leave input out to regenerate an answer.")
    edited = append_user_message(tx, row, node.parent, turn_input)
    tree.set_active_head(tx, row, edited.k)
    run = admit(tx, row, ctx, turn_input, user_node=edited.k)
    return {"runId": run.id, "turnId": run.turn_id, "userNodeId": edited.id}


def _regenerate(tx: Tx, row: Any, ctx: Context, node: tree.Node) -> dict[str, Any]:
    """The whole turn anew under its user message."""
    user: tree.Node | None = node
    while user is not None and user.type != "user_message":
        above = user.parent
        user = tree.by_key(tx, above) if above is not None and above < user.k else None
    if user is None:
        raise InvalidCommand("siblingOfNodeId: no message of the user lies above this node.")
    tree.set_active_head(tx, row, user.k)
    if not is_readable(user.payload):
        raise InvalidCommand("The message to answer is damaged; `sidekeep verify --repair` looks for what is left.")
    run = admit(tx, row, ctx, msgspec.json.decode(user.payload), kind="regenerate", user_node=user.k)
    return {"runId": run.id, "turnId": run.turn_id, "userNodeId": user.id}
