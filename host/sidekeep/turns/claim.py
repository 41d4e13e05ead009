"""Takes a run for execution, in one transaction: user node, turn context, environment, `preparing`, `turn.start`.

A run that was never started gets its environment here. One that goes on (resumed, begun again after a death, handed
over) must find its own environment intact.
"""

import msgspec

from sidekeep.model import environment
from sidekeep.model.canonical import canonical
from sidekeep.model.environment import binding_of
from sidekeep.model.errors import Refusal
from sidekeep.store import connections, damage, grants, runs, steers, titles, tree
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx
from sidekeep.turns import finish
from sidekeep.turns.environment_build import Environment, bind_secrets, normal_input, resolve, usable_connection
from sidekeep.turns.held import Held, held, place, rows_of
from sidekeep.turns.progress import of_run
from sidekeep.turns.tools import registry

#: What a claim may leave a run in: asking the model, with calls to carry out, or waiting still.
_CLAIMED = frozenset(("streaming_model", "preparing")) | runs.WAITING


def begin(tx: Tx, run_id: str, move: str, *, watched: bool) -> Held | None:
    """`claim`, and where no tool and nobody is waited for, in the same transaction the move to the first model call:
    a turn begins a commit sooner."""
    fresh = runs.get(tx, run_id).state == "queued"
    mine = claim(tx, run_id, move, watched=watched)
    if mine is None or mine.state != "preparing" or (not fresh and of_run(tx, run_id).pending):
        return mine
    run, thread = rows_of(tx, mine)
    ask(tx, thread, run, move)
    return held(run, thread)


def claim(tx: Tx, run_id: str, move: str, *, watched: bool) -> Held | None:
    """The run as it is held from now on; None when there is nothing to execute: it was started, stopped or deleted
    meanwhile, waits behind another, or cannot start (then it has failed, and the turn is complete)."""
    run = runs.get(tx, run_id)
    thread = tx.thread_by_key(run.thread)
    if thread is None or not run.is_open:
        return None
    if thread.deleted_at is not None or thread.fence != run.fence:
        runs.set_state(tx, run, "interrupted", stop_reason="interrupted", finished_at=tx.now, move=move)
        return None
    if run.state == "queued":
        return _start(tx, thread, run, move, watched)
    if run.state in ("preparing", "handed_over") or run.state in runs.WAITING:
        return _go_on(tx, thread, run, move, watched)
    return None


def begun_by(tx: Tx, run_id: str, move: str) -> Held | bool | None:
    """For a beginning whose COMMIT is unknown: what it made of the run, if it took hold."""
    run = runs.get(tx, run_id)
    thread = tx.thread_by_key(run.thread)
    if run.move != move or thread is None:
        return None
    return held(run, thread) if run.state in _CLAIMED else False


def _start(tx: Tx, thread: ThreadRow, run: RunRow, move: str, watched: bool) -> Held | None:
    first = runs.open_of_thread(tx, thread.k)[0]
    if first.id != run.id or runs.recoverable_of_thread(tx, thread.k):
        return None
    try:
        found: Environment | Refusal = resolve(tx, thread, run)
    except Refusal as error:
        found = error
    if run.user_node is None:
        _write_user_node(tx, thread, run)
        tx.change("queue.updated", thread.id)
    if isinstance(found, Refusal):
        _begin(tx, thread, run)
        finish.fail(tx, thread, run, move, found, watched=watched)
        return None
    grants.end_after_idleness(tx, thread.k, run.user_node)
    turn_context = {
        "turnId": run.turn_id,
        "model": found.snapshot["modelId"],
        "permissionPolicy": found.snapshot["permissionPolicy"],
        "activeSkills": [],
    }
    parent, moves = place(tx, thread, run)
    node = tree.append(tx, thread, parent, "turn_context", turn_context, move=moves)
    runs.set_state(
        tx,
        run,
        "preparing",
        attempt=run.attempt + 1,
        move=move,
        user_node=run.user_node,
        last_node=node.k,
        started_at=tx.now,
        input=canonical(found.turn_input).decode(),
        environment=environment.stored(found.snapshot),
        environment_digest=found.snapshot["digest"],
    )
    _begin(tx, thread, run)
    return held(run, thread)


def _go_on(tx: Tx, thread: ThreadRow, run: RunRow, move: str, watched: bool) -> Held | None:
    if run.interrupt_requested:
        # Stopped between its resumption and now; what it had said before stays.
        said = msgspec.json.decode(run.partial) if run.partial else {}
        finish.stop(tx, thread, run, move, finish.Said.of(said))
        return None
    try:
        verify_again(tx, run)
    except Refusal as error:
        _begin(tx, thread, run)
        finish.fail(tx, thread, run, move, error, watched=watched)
        return None
    waits = run.state in runs.WAITING
    state = run.state if waits else "preparing"
    runs.set_state(tx, run, state, attempt=run.attempt + 1, move=move, recoverable=0, partial=None)
    _begin(tx, thread, run, "needs_input" if waits else "running")
    return held(run, thread)


def ask(tx: Tx, thread: ThreadRow, run: RunRow, move: str) -> None:
    """The move before a model call, on disk before the endpoint hears of it: whoever finds the run after a death
    cannot take it for one without effect.

    What the user added meanwhile is taken in here and nowhere else: never between a tool call and its result.
    """
    parent, moves = place(tx, thread, run)
    steers.take_in(tx, thread, run, parent, move=moves)
    runs.set_state(tx, run, "streaming_model", step=run.step + 1, move=move)
    finish.told(tx, thread, run)


def verify_again(tx: Tx, run: RunRow) -> None:
    """Raises SnapshotInvalid, SnapshotUnsupported, or why its connection cannot be used now."""
    snapshot = environment.read(run.environment)
    connection_id = str(snapshot.get("connectionId", ""))
    now = connections.get(tx, connection_id)
    environment.verify(
        snapshot,
        binding_now=None if now is None else binding_of({**now, "id": connection_id}),
        turn_input=normal_input(run.input),
        expected_digest=run.environment_digest,
        tools_now=registry.today(),
    )
    bind_secrets(tx, usable_connection(tx, connection_id))


def _write_user_node(tx: Tx, thread: ThreadRow, run: RunRow) -> None:
    """The message of a turn that waited in the queue is written when it starts."""
    payload = normal_input(run.input)
    titles.name_by_first_line(thread, payload)
    node = tree.append(tx, thread, damage.head(tx, thread), "user_message", payload)
    run.user_node = run.last_node = node.k
    tx.run("UPDATE runs SET user_node = ?, last_node = ? WHERE k = ?", (node.k, node.k, run.k))


def _begin(tx: Tx, thread: ThreadRow, run: RunRow, status: str = "running") -> None:
    thread.set("status", status)
    tx.change(
        "turn.start",
        thread.id,
        run.id,
        detail={
            "turnId": run.turn_id,
            "runId": run.id,
            "turnKind": run.kind,
            "steerable": True,
            "attempt": run.attempt,
        },
    )
