"""After a dead runner: what its runs have become, decided before anything new is started.

The second document's *reconcile_interrupted_runs*: whoever holds the runner's lock knows that nobody else executes
anything, so that a run found active was left behind. Each is moved in a transaction of its own.
"""

import os
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from sidekeep.model.errors import Internal
from sidekeep.model.ids import new_id
from sidekeep.model.limits import RUN_DEATHS
from sidekeep.model.places import Places
from sidekeep.runner.live_writer import remove
from sidekeep.store import run_queue, runs
from sidekeep.store.live import LiveTail, live_path
from sidekeep.store.runs import RunRow
from sidekeep.store.tx import Tx
from sidekeep.turns import finish
from sidekeep.turns.finish import Said

#: States that a run is in only while a runner executes it.
LEFT_BEHIND = frozenset(("preparing", "streaming_model", "executing_tool"))


class Desk(Protocol):
    """What reconciling needs of the runner."""

    async def write(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any]) -> Any: ...

    async def read(self, look: Callable[[Tx], Any]) -> Any: ...


async def reconcile_interrupted_runs(desk: Desk, places: Places, log: Callable[[str], None]) -> int:
    """Move each run that a dead runner left; returns how many. Afterwards no live file is left."""
    found = [run for run in await desk.read(run_queue.open_runs) if run.state in LEFT_BEHIND]
    for run in found:
        left = await desk.read(_unwritten(left_behind(live_path(places, run.id, run.attempt))))
        became = await desk.write(_moving(run.id, left), _moved(run.id, run.state))
        log(f"run {run.id}.{run.attempt} was left {run.state} and is {became}")
    for name in os.listdir(places.live):
        remove(os.path.join(places.live, name))
    return len(found)


def left_behind(path: str) -> Said:
    """What a dead attempt had shown and not yet written: its last unfinished message."""
    tail = LiveTail(path)
    for _ in tail.read():
        pass
    tail.close()
    open_items = [item for item in tail.items.values() if not item.done]
    said = Said(items=[item.item_id for item in open_items])
    for item in open_items:
        if item.kind == "assistant_message":
            said.text, said.reasoning = "".join(item.text), "".join(item.reasoning)
            # It becomes a node: then that is the node of the last item.
            said.items.remove(item.item_id)
            said.items.append(item.item_id)
    return said


def _unwritten(left: Said) -> Callable[[Tx], Said]:
    """Without what is on disk: a runner may die between a commit and the line in its file that tells of it."""

    def look(tx: Tx) -> Said:
        if not left.items:
            return left
        message = left.items[-1]
        marks = ", ".join("?" * len(left.items))
        written = {row[0] for row in tx.all(f"SELECT id FROM nodes WHERE id IN ({marks})", tuple(left.items))}
        if message in written:
            left.text = left.reasoning = ""
        left.items = [item for item in left.items if item not in written]
        return left

    return look


def _moving(run_id: str, left: Said) -> Callable[[Tx], str]:
    def move(tx: Tx) -> str:
        run = runs.get(tx, run_id)
        thread = tx.thread_by_key(run.thread)
        if run.state not in LEFT_BEHIND:
            return run.state  # ended by somebody else meanwhile
        if thread is None or thread.deleted_at is not None or thread.fence != run.fence:
            runs.set_state(tx, run, "interrupted", stop_reason="interrupted", finished_at=tx.now)
            return run.state
        if run.state == "preparing" and run.move is None:
            return run.state  # resumed by a host and not yet taken up: nobody died of it
        token = new_id()
        run.deaths += 1
        if run.interrupt_requested:
            finish.stop(tx, thread, run, token, left)
        elif run.deaths >= RUN_DEATHS:
            error = Internal(f"The engine ended {run.deaths} times in a row during this turn; it is not tried again.")
            finish.fail(tx, thread, run, token, error, watched=False, said=left)
        elif run.state == "executing_tool" and is_uncertain(tx, run):
            runs.set_state(tx, run, "paused_uncertain", move=None)
            thread.set("status", "needs_input")
            finish.told(tx, thread, run)
            detail: dict[str, object] = {"runId": run.id, "turnId": run.turn_id}
            tx.change("run.recovery_required", thread.id, run.id, detail=detail)
        elif run.state in ("preparing", "executing_tool"):
            # Nothing has had effect that is not on disk with its result: it goes on by itself.
            runs.set_state(tx, run, "preparing", move=None, partial=None)
            finish.told(tx, thread, run)
        else:
            finish.interrupt_for_recovery(tx, thread, run, left)
        tx.run("UPDATE runs SET deaths = ? WHERE k = ?", (run.deaths, run.k))
        return run.state

    return move


def is_uncertain(tx: Tx, run: RunRow) -> bool:
    """Whether a tool that must not act twice had begun, and nobody knows what became of it."""
    acting = msgspec.json.decode(run.partial).get("acting") if run.partial else None
    return acting is not None and tx.one("SELECT 1 FROM nodes WHERE id = ?", (acting,)) is None


def _moved(run_id: str, was: str) -> Callable[[Tx], str | None]:
    """For a COMMIT that is unknown: a run that is not where it was has been moved."""

    def settled(tx: Tx) -> str | None:
        run = runs.get(tx, run_id)
        return run.state if run.state != was else None

    return settled
