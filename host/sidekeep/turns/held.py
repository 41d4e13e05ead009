"""What a runner holds of a run that it executes, and the check that every transaction of it begins with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from sidekeep.model.errors import Conflict, NotFound
from sidekeep.store import runs
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx


@dataclass(frozen=True)
class Held:
    """One attempt of a run; `fence` is the thread's as it was seen when the attempt was claimed."""

    run_id: str
    turn_id: str
    kind: str
    attempt: int
    fence: int
    thread_id: str
    thread_key: int
    leaf: int
    #: The state that the claim left the run in.
    state: str
    environment: dict[str, Any]

    @property
    def model_id(self) -> str:
        return str(self.environment["modelId"])

    @property
    def connection_id(self) -> str:
        return str(self.environment["connectionId"])


def held(run: RunRow, thread: ThreadRow) -> Held:
    """What is held of a run that was just claimed."""
    assert run.last_node is not None
    return Held(
        run_id=run.id,
        turn_id=run.turn_id,
        kind=run.kind,
        attempt=run.attempt,
        fence=run.fence,
        thread_id=thread.id,
        thread_key=thread.k,
        leaf=run.last_node,
        state=run.state,
        environment=msgspec.json.decode(run.environment or "{}"),
    )


class Gone(Conflict):
    """The attempt does not stand any more: nothing of it is written."""


def rows_of(tx: Tx, mine: Held) -> tuple[RunRow, ThreadRow]:
    """The run and its thread, if the attempt still stands.

    Raises Gone when the thread was deleted or purged (its fence moved), or the run was moved by somebody else.
    """
    try:
        run = runs.get(tx, mine.run_id)
    except NotFound:
        raise Gone("The conversation of this run was deleted for good.") from None
    thread = tx.thread_by_key(run.thread)
    if thread is None or thread.deleted_at is not None or thread.fence != mine.fence:
        raise Gone("The conversation of this run was deleted.")
    if run.attempt != mine.attempt or not run.is_open:
        raise Gone("This attempt of the run is over.")
    return run, thread


def took_hold(run_id: str, move: str) -> Callable[[Tx], Any]:
    """For a COMMIT whose outcome is unknown: True when the run's row carries this move, else None."""

    def settled(tx: Tx) -> bool | None:
        return True if runs.get(tx, run_id).move == move else None

    return settled


def place(tx: Tx, thread: ThreadRow, run: RunRow) -> tuple[int | None, bool]:
    """Where a node of the run goes: its parent's key, and whether the leaf moves with it.

    A run appends after its own last node. Notices that came behind it meanwhile stay above what the run says, or
    they would part the answer from its question.
    """
    at = thread.leaf
    while at is not None and run.last_node is not None and at > run.last_node:
        row = tx.one("SELECT parent, type FROM nodes WHERE k = ?", (at,))
        if row is None or row[1] != "system_notice":
            break
        at = row[0]
    if at == run.last_node:
        return thread.leaf, True
    return run.last_node, False
