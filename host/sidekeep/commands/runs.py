"""`run.get`: a run with its environment and what it had said."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.model.ops.turns import RunGet
from sidekeep.store import live, runs, tree
from sidekeep.store.tx import Tx


def get(tx: Tx, op: RunGet, ctx: Context) -> dict[str, Any]:
    run = runs.get(tx, op.run_id)
    thread = tx.thread_by_key(run.thread)
    body: dict[str, Any] = {
        "id": run.id,
        "threadId": thread.id if thread else None,
        "turnId": run.turn_id,
        "kind": run.kind,
        "state": run.state,
        "attempt": run.attempt,
        "submissionId": run.submission_id,
        "clientId": run.client_id,
        "createdAt": run.created_at,
        "updatedAt": run.updated_at,
        "costUsd": run.cost_usd,
        "recoverable": bool(run.recoverable),
    }
    plain = {"startedAt": run.started_at, "finishedAt": run.finished_at, "stopReason": run.stop_reason}
    body |= {member: value for member, value in plain.items() if value is not None}
    texts = {
        "usage": run.usage,
        "error": run.error,
        "overrides": run.overrides,
        "input": run.input,
        "browserContext": run.browser_context,
        "environment": run.environment,
    }
    body |= {member: msgspec.Raw(text.encode()) for member, text in texts.items() if text is not None}
    if run.user_node is not None and (node := tree.by_key(tx, run.user_node)):
        body["userNodeId"] = node.id
    said = msgspec.json.decode(run.partial) if run.partial else {}
    if run.state in runs.ACTIVE:
        said = live.partial_text(live.live_path(ctx.places, run.id, run.attempt))
    if said.get("text"):
        body["partialText"] = said["text"]
    return {"run": body}
