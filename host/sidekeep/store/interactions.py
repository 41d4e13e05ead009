"""Interactions: questions to the user, work handed over to the user, and times that a run waits for.

An answer is taken once by a command (`answered`) and once by the run (`claimed`).
"""

from typing import Any, NamedTuple

import msgspec

from sidekeep.store.runs import RunRow
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)


class Interaction(NamedTuple):
    """One row; `request` and `response` are JSON text, `deadline_at` is None where the user may take any time."""

    k: int
    id: str
    thread: int
    run: int
    status: str
    deadline_at: int | None
    responded_at: int | None
    claimed_by: str | None
    response: str | None
    request: str

    @property
    def asked(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.request)
        return found

    @property
    def answer(self) -> dict[str, Any] | None:
        """None when its time came before an answer."""
        return msgspec.json.decode(self.response) if self.response else None


def ask(tx: Tx, thread: ThreadRow, run: RunRow, item_id: str, request: dict[str, Any], deadline: int | None) -> None:
    """Put it before the user; `item_id` is the call that it belongs to."""
    interaction_id = tx.new_id()
    tx.run(sql.insert, (interaction_id, thread.k, run.k, tx.now, deadline, item_id, dumps(request)))
    detail: dict[str, object] = {
        "turnId": run.turn_id,
        "runId": run.id,
        "interactionId": interaction_id,
        "request": request,
    }
    if deadline is not None:
        detail["deadlineAt"] = deadline
    tx.change("interaction.request", thread.id, interaction_id, detail=detail)


def find(tx: Tx, interaction_id: str) -> Interaction | None:
    row = tx.one(f"{sql.columns} WHERE id = ?", (interaction_id,))
    return None if row is None else Interaction._make(row)


def of_run(tx: Tx, run: RunRow) -> dict[str, Interaction]:
    """All of a run, by the call that each belongs to (kept in `claimed_by`)."""
    found = [Interaction._make(row) for row in tx.all(f"{sql.columns} WHERE run = ? ORDER BY k", (run.k,))]
    return {interaction.claimed_by or interaction.id: interaction for interaction in found}


def answer(tx: Tx, thread_id: str, interaction: Interaction, response: dict[str, Any], by: str) -> bool:
    """Keep an answer; False when it is not pending any more, or its time has come."""
    tx.run(sql.answer, (tx.now, dumps(response), interaction.k, tx.now))
    if tx.changed_rows() != 1:
        return False
    _resolved(tx, thread_id, interaction.id, response, by)
    return True


def claim(tx: Tx, interaction: Interaction) -> bool:
    """The run takes the answer, or that the time came; False when it was taken before."""
    tx.run(sql.claim, (tx.now, interaction.k))
    return tx.changed_rows() == 1


def expire(tx: Tx, thread: ThreadRow, run: RunRow) -> int:
    """Those whose time has come need no answer any more; returns how many."""
    return _end(tx, thread, run, "expired", {}, "deadline", tx.now)


def cancel(tx: Tx, thread: ThreadRow, run: RunRow) -> int:
    """The run is over: nobody waits for an answer any more."""
    return _end(tx, thread, run, "cancelled", {}, "run", None)


def _end(
    tx: Tx, thread: ThreadRow, run: RunRow, status: str, response: dict[str, Any], by: str, until: int | None
) -> int:
    pending = [
        each
        for each in of_run(tx, run).values()
        if each.status == "pending" and (until is None or (each.deadline_at is not None and each.deadline_at <= until))
    ]
    for each in pending:
        tx.run(sql.end, (status, tx.now, each.k))
        _resolved(tx, thread.id, each.id, response, by)
    return len(pending)


def _resolved(tx: Tx, thread_id: str, interaction_id: str, response: dict[str, Any], by: str) -> None:
    detail: dict[str, object] = {"interactionId": interaction_id, "response": response, "by": by}
    tx.change("interaction.resolved", thread_id, interaction_id, detail=detail)
