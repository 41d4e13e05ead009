"""Runs: the durable execution of a turn, its states and the moves between them.

Source: first document §2 (runs), second document (status). The table of moves is the only way to change a state.
"""

from typing import Any

import msgspec

from sidekeep.model.errors import Conflict, NotFound, QueueFull, RunActive
from sidekeep.store import tree
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)

QUEUE_LIMIT = 8
FINAL = frozenset(("interrupted", "failed", "completed"))
PAUSED = frozenset(("paused_budget", "paused_uncertain"))
WAITING = frozenset(("waiting_approval", "waiting_interaction"))
ACTIVE = frozenset(("preparing", "streaming_model", "executing_tool", "handed_over")) | WAITING | PAUSED

MOVES: dict[str, frozenset[str]] = {
    "queued": frozenset(("preparing", "interrupted", "failed")),
    "preparing": frozenset(
        ("streaming_model", "executing_tool", "waiting_approval", "waiting_interaction", "interrupted", "failed",
         "handed_over", "preparing")
    ),
    "streaming_model": frozenset(
        ("executing_tool", "waiting_approval", "waiting_interaction", "paused_budget", "streaming_model",
         "interrupted", "failed", "completed", "handed_over")
    ),
    "waiting_approval": frozenset(
        ("waiting_approval", "executing_tool", "streaming_model", "interrupted", "failed", "handed_over")
    ),
    "waiting_interaction": frozenset(
        ("waiting_interaction", "waiting_approval", "executing_tool", "streaming_model", "interrupted", "failed",
         "handed_over")
    ),
    "executing_tool": frozenset(
        ("streaming_model", "waiting_approval", "waiting_interaction", "executing_tool", "paused_uncertain",
         "paused_budget", "preparing", "interrupted", "failed", "completed", "handed_over")
    ),
    "paused_budget": frozenset(("preparing", "streaming_model", "interrupted", "failed")),
    "paused_uncertain": frozenset(("preparing", "executing_tool", "streaming_model", "interrupted", "failed")),
    "handed_over": frozenset(("preparing", "streaming_model", "executing_tool", "waiting_approval",
                              "waiting_interaction", "interrupted", "failed")),
    "interrupted": frozenset(("preparing",)),
    "failed": frozenset(),
    "completed": frozenset(),
}  # fmt: skip

COLUMNS = (
    "k", "id", "thread", "turn_id", "kind", "state", "client_id", "submission_id", "attempt", "deaths", "step",
    "fence", "move", "user_node", "last_node", "recoverable", "interrupt_requested", "revision", "created_at",
    "updated_at", "started_at", "finished_at", "stop_reason", "error", "usage", "cost_usd", "overrides",
    "browser_context", "input", "partial", "environment", "environment_digest",
)  # fmt: skip


class RunRow:
    """One row of `runs`, as it was read."""

    __slots__ = COLUMNS

    k: int
    id: str
    thread: int
    turn_id: str
    kind: str
    state: str
    client_id: str
    submission_id: str
    attempt: int
    deaths: int
    step: int
    fence: int
    move: str | None
    user_node: int | None
    last_node: int | None
    recoverable: int
    interrupt_requested: int
    revision: int
    created_at: int
    updated_at: int
    started_at: int | None
    finished_at: int | None
    stop_reason: str | None
    error: str | None
    usage: str | None
    cost_usd: float
    overrides: str | None
    browser_context: str | None
    input: str
    partial: str | None
    environment: str | None
    environment_digest: str | None

    def __init__(self, row: tuple[Any, ...]) -> None:
        for name, value in zip(COLUMNS, row, strict=True):
            setattr(self, name, value)

    @property
    def is_open(self) -> bool:
        return self.state not in FINAL


def _rows(tx: Tx, where: str, values: tuple[Any, ...] = ()) -> list[RunRow]:
    return [RunRow(row) for row in tx.all(f"{sql.columns} WHERE {where}", values)]


def get(tx: Tx, run_id: str) -> RunRow:
    """Raises NotFound."""
    found = _rows(tx, "id = ?", (run_id,))
    if not found:
        raise NotFound(f"No run {run_id}.")
    return found[0]


def open_of_thread(tx: Tx, thread: int) -> list[RunRow]:
    """The runs of a thread that have not ended, oldest first: the active one, then its queue."""
    return _rows(tx, "thread = ? AND open ORDER BY k", (thread,))


def is_active(tx: Tx, thread: int) -> bool:
    """Whether a thread has a run that has not ended."""
    return tx.one(sql.one_open, (thread,)) is not None


def recoverable_of_thread(tx: Tx, thread: int) -> list[RunRow]:
    """Interrupted runs that `run.resume` can still continue."""
    return _rows(tx, "thread = ? AND recoverable = 1 ORDER BY k", (thread,))


def refuse_while_active(tx: Tx, thread: ThreadRow) -> None:
    """The branch does not move under a run. Raises RunActive (second document, *_is_run_active*)."""
    if is_active(tx, thread.k):
        raise RunActive("An answer is being written in this conversation; stop it or wait for its end.")


def admit(
    tx: Tx,
    thread: ThreadRow,
    *,
    client_id: str,
    submission_id: str,
    turn_input: dict[str, Any],
    kind: str = "turn",
    user_node: int | None = None,
    overrides: object = None,
    browser_context: object = None,
) -> RunRow:
    """Queue a run. Raises QueueFull at the ninth that waits; one whose message is written waits no more."""
    waiting = [run for run in open_of_thread(tx, thread.k) if run.state == "queued" and run.user_node is None]
    if len(waiting) >= QUEUE_LIMIT:
        raise QueueFull(f"{QUEUE_LIMIT} messages wait in this conversation already.")
    run_id, turn_id = tx.new_id(), tx.new_id()
    tx.run(
        sql.insert,
        (
            run_id, thread.k, turn_id, kind, client_id, submission_id, thread.fence, user_node, user_node,
            tx.now, tx.now, dumps(overrides) if overrides else None,
            dumps(browser_context) if browser_context else None, dumps(turn_input),
        ),
    )  # fmt: skip
    thread.set("status", "running")
    tx.change("run.queued", thread.id, run_id)
    return get(tx, run_id)


def set_state(tx: Tx, run: RunRow, state: str, **columns: object) -> None:
    """Move a run to another state, with further columns, if the table of moves allows it.

    Raises Conflict: somebody else moved it meanwhile, or the move is not in the table.
    """
    if state not in MOVES[run.state]:
        raise Conflict(f"A run cannot go from {run.state} to {state}.")
    names = ", ".join(f"{name} = ?" for name in columns)
    tx.run(
        f"UPDATE runs SET state = ?, revision = revision + 1, updated_at = ?{', ' if names else ''}{names} "
        "WHERE k = ? AND state = ? AND attempt = ?",
        (state, tx.now, *columns.values(), run.k, run.state, run.attempt),
    )
    if tx.changed_rows() != 1:
        raise Conflict("The run moved on meanwhile.")
    run.state = state
    for name, value in columns.items():
        setattr(run, name, value)


def make_way(tx: Tx, thread: ThreadRow) -> None:
    """Before content is added by hand: no run is active, and what an interrupted one had said is a message.

    Raises RunActive.
    """
    if thread.settled:
        return
    if tx.one(sql.one_unsettled, (thread.k,)) is not None:
        refuse_while_active(tx, thread)
        settle_partial(tx, thread)
    thread.settled = True


def settle_partial(tx: Tx, thread: ThreadRow) -> None:
    """Before anything is added to a branch with an interrupted run, what it had said becomes a message.

    Afterwards that run can no longer be resumed; what the user had added to it stays behind what it said.
    """
    from sidekeep.store import steers

    for run in recoverable_of_thread(tx, thread.k):
        partial = msgspec.json.decode(run.partial) if run.partial else {}
        if partial.get("text") or partial.get("reasoning"):
            append_interrupted(tx, thread, run, partial, "interrupted")
        steers.take_in(tx, thread, run, run.last_node, move=thread.leaf == run.last_node)
        tx.run("UPDATE runs SET recoverable = 0, revision = revision + 1 WHERE k = ?", (run.k,))
        tx.change("run.settled", thread.id, run.id)


def append_interrupted(tx: Tx, thread: ThreadRow, run: RunRow, said: dict[str, str], stop_reason: str) -> tree.Node:
    """Keep what was streamed as an `assistant_message` that says how it ended; moves the leaf with the run."""
    environment = msgspec.json.decode(run.environment) if run.environment else {}
    payload: dict[str, Any] = {
        "content": [{"type": "text", "text": said.get("text", "")}],
        "model": environment.get("modelId", ""),
        "connectionId": environment.get("connectionId", ""),
        "stopReason": stop_reason,
    }
    if said.get("reasoning"):
        payload["reasoning"] = said["reasoning"]
    follows = thread.leaf == run.last_node
    node = tree.append(tx, thread, run.last_node, "assistant_message", payload, move=follows)
    tx.run("UPDATE runs SET last_node = ? WHERE k = ?", (node.k, run.k))
    run.last_node = node.k
    return node


def queue_entry(run: RunRow) -> dict[str, Any]:
    """A waiting run in a ThreadSnapshot's queue."""
    entry: dict[str, Any] = {"runId": run.id, "input": msgspec.Raw(run.input.encode()), "revision": run.revision}
    if run.overrides:
        entry["overrides"] = msgspec.Raw(run.overrides.encode())
    return entry
