"""`turn.steer`: more input for the turn that runs; the runner takes it in at its next model call."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import TurnMismatch
from sidekeep.model.ops.turns import TurnSteer
from sidekeep.store import runs, steers, threads
from sidekeep.store.tx import Tx


def steer(tx: Tx, op: TurnSteer, ctx: Context) -> dict[str, Any]:
    """Acknowledged once the input is on disk. Raises TurnMismatch when that turn is over, stopped, or not begun."""
    row = threads.live(tx, op.thread_id)
    opened = runs.open_of_thread(tx, row.k)
    run = opened[0] if opened else None
    if run is None or run.turn_id != op.expected_turn_id or (run.state == "queued" and run.user_node is None):
        raise TurnMismatch("That answer is not the one that is being written; send this as a message of its own.")
    if run.interrupt_requested:
        raise TurnMismatch("That answer is being stopped; send this as a message of its own.")
    steers.add(tx, run, ctx.plain["input"])
    tx.change("run.steered", row.id, run.id)
    return {}
