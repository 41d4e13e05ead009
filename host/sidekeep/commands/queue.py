"""`turn.enqueue`, `queue.update`, `queue.remove`: messages that wait for the active answer."""

from typing import Any

from sidekeep.commands import submit
from sidekeep.commands.context import Context, given
from sidekeep.model.errors import Conflict, NotFound
from sidekeep.model.ops.turns import QueueRemove, QueueUpdate, TurnEnqueue
from sidekeep.store import runs, threads
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps


def enqueue(tx: Tx, op: TurnEnqueue, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    run = submit.admit(tx, row, ctx, ctx.plain["input"])
    tx.change("queue.updated", row.id)
    return {"runId": run.id}


def update(tx: Tx, op: QueueUpdate, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    run = _waiting(tx, row, op.run_id)
    turn_input, overrides = ctx.plain.get("input"), given(op.overrides)
    tx.run(
        "UPDATE runs SET input = coalesce(?, input), overrides = coalesce(?, overrides), revision = revision + 1, "
        "updated_at = ? WHERE k = ?",
        (
            dumps(turn_input) if turn_input is not None else None,
            dumps(ctx.plain["overrides"]) if overrides is not None else None,
            tx.now,
            run.k,
        ),
    )
    tx.change("queue.updated", row.id)
    return {"runId": run.id}


def remove(tx: Tx, op: QueueRemove, _ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    run = _waiting(tx, row, op.run_id)
    runs.set_state(tx, run, "interrupted", stop_reason="interrupted", finished_at=tx.now)
    if not runs.is_active(tx, row.k):
        row.set("status", "interrupted" if runs.recoverable_of_thread(tx, row.k) else "idle")
    tx.change("queue.updated", row.id)
    return {"runId": run.id}


def _waiting(tx: Tx, row: ThreadRow, run_id: str) -> runs.RunRow:
    run = runs.get(tx, run_id)
    if run.thread != row.k:
        raise NotFound(f"No run {run_id} in this thread.")
    if run.state != "queued" or run.user_node is not None:
        raise Conflict("This message has been sent to the model already.")
    return run
