"""`turn.submit`: a message and the run that answers it, admitted in one transaction."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.ops.turns import TurnSubmit
from sidekeep.store import damage, runs, threads, titles, tree
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx


def submit(tx: Tx, op: TurnSubmit, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    # What an interrupted answer had said becomes part of the branch before the branch goes on.
    runs.settle_partial(tx, row)
    turn_input = ctx.plain["input"]
    if runs.is_active(tx, row.k):
        run = admit(tx, row, ctx, turn_input)
        tx.change("queue.updated", row.id)
        return {"runId": run.id, "turnId": run.turn_id, "queued": True}
    node = append_user_message(tx, row, damage.head(tx, row), turn_input)
    run = admit(tx, row, ctx, turn_input, user_node=node.k)
    return {"runId": run.id, "turnId": run.turn_id, "userNodeId": node.id}


def append_user_message(tx: Tx, row: ThreadRow, parent: int | None, turn_input: dict[str, Any]) -> tree.Node:
    payload = user_payload(turn_input)
    titles.name_by_first_line(row, payload)
    return tree.append(tx, row, parent, "user_message", payload)


def user_payload(turn_input: dict[str, Any]) -> dict[str, Any]:
    """A `user_message` holds the input as it came, without empty members."""
    return {key: value for key, value in turn_input.items() if value or key == "content"}


def admit(
    tx: Tx,
    row: ThreadRow,
    ctx: Context,
    turn_input: dict[str, Any],
    *,
    kind: str = "turn",
    user_node: int | None = None,
) -> runs.RunRow:
    """Queue the run and have the host look for a runner."""
    ctx.work = True
    return runs.admit(
        tx,
        row,
        client_id=ctx.client_id,
        submission_id=ctx.submission_id,
        turn_input=turn_input,
        kind=kind,
        user_node=user_node,
        overrides=ctx.plain.get("overrides"),
        browser_context=ctx.plain.get("browserContext"),
    )
