"""`turn.interrupt`: a mark that the runner acts on; a run that has not started, or is paused, ends here."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.ops.turns import TurnInterrupt
from sidekeep.store import runs, steers, threads
from sidekeep.store.tx import Tx


def interrupt(tx: Tx, op: TurnInterrupt, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    opened = runs.open_of_thread(tx, row.k)
    if not opened:
        return {}
    run = opened[0]
    if run.state != "queued" and run.state not in runs.PAUSED:
        tx.run("UPDATE runs SET interrupt_requested = 1, updated_at = ? WHERE k = ?", (tx.now, run.k))
        tx.change("run.interrupt", row.id, run.id)
        ctx.work = True
        return {}
    # Nobody executes it: it ends here, and what was added to it stays in the conversation.
    steers.take_in(tx, row, run, run.last_node, move=row.leaf == run.last_node)
    runs.set_state(tx, run, "interrupted", stop_reason="interrupted", finished_at=tx.now)
    if len(opened) > 1:
        ctx.work = True
    else:
        row.set("status", "idle")
    detail: dict[str, object] = {"turnId": run.turn_id, "runId": run.id, "stopReason": "interrupted", "items": []}
    tx.change("turn.complete", row.id, run.id, detail=detail)
    return {}
