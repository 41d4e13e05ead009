"""`run.resolveUncertain`: what the user says of an act whose result nobody knows."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.model.errors import Conflict, NotFound
from sidekeep.model.ops.turns import RunResolveUncertain
from sidekeep.store import runs, threads, tree
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx

_TOLD = {
    "mark_done": (True, "It was cut off, and the user has looked: it was done."),
    "fail": (False, "It was cut off, and the user has looked: it was not done. It was not tried again."),
}


def resolve(tx: Tx, op: RunResolveUncertain, ctx: Context) -> dict[str, Any]:
    """The run goes on: the act once more, or with the result that the user tells. Raises NotFound, Conflict."""
    row = threads.live(tx, op.thread_id)
    run = runs.get(tx, op.run_id)
    if run.thread != row.k:
        raise NotFound(f"No run {op.run_id} in this thread.")
    if run.state != "paused_uncertain":
        raise Conflict("Nothing about this answer is uncertain any more.")
    item_id = str(msgspec.json.decode(run.partial).get("acting", "")) if run.partial else ""
    if op.resolution != "retry" and item_id:
        _tell(tx, row, run, item_id, *_TOLD[op.resolution])
    runs.set_state(tx, run, "preparing", move=None, partial=None, last_node=run.last_node)
    row.set("status", "running")
    tx.change("run.state", row.id, run.id, detail={"runId": run.id, "turnId": run.turn_id, "state": "preparing"})
    ctx.work = True
    return {}


def _tell(tx: Tx, row: ThreadRow, run: RunRow, item_id: str, ok: bool, words: str) -> None:
    payload = {
        "itemId": item_id,
        "ok": ok,
        "contentForLlm": [{"type": "text", "text": words}],
        "details": {"toldBy": "user"},
    }
    follows = row.leaf == run.last_node
    node = tree.append(tx, row, run.last_node, "tool_result", payload, node_id=item_id, move=follows)
    run.last_node = node.k
