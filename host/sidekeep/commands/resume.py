"""`run.resume`: continue an interrupted run, or one whose budget was spent, from its verified environment."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.model import environment
from sidekeep.model.errors import Conflict, NotFound
from sidekeep.model.ops.turns import RunResume
from sidekeep.store import connections, runs, threads
from sidekeep.store.tx import Tx


def resume(tx: Tx, op: RunResume, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    run = runs.get(tx, op.run_id)
    if run.thread != row.k:
        raise NotFound(f"No run {op.run_id} in this thread.")
    if not run.recoverable and run.state != "paused_budget":
        raise Conflict("This answer can no longer be continued: it ended, or the conversation went on after it.")
    snapshot = environment.read(run.environment)
    connection = connections.get(tx, str(snapshot.get("connectionId")))
    environment.verify(
        snapshot,
        binding_now=None if connection is None else environment.binding_of(connection),
        turn_input=msgspec.json.decode(run.input),
        expected_digest=run.environment_digest,
    )
    runs.set_state(tx, run, "preparing", recoverable=0, interrupt_requested=0, stop_reason=None, finished_at=None)
    row.set("status", "running")
    tx.change("run.state", row.id, run.id, detail={"runId": run.id, "turnId": run.turn_id, "state": "preparing"})
    ctx.work = True
    return {}
