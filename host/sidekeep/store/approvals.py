"""Approvals: what a person has to decide before a tool acts, kept until it is decided or its time is over.

The first decision stands: every change of a row holds only while it is pending.
"""

from typing import Any, NamedTuple

import msgspec

from sidekeep.model.limits import APPROVAL_MS
from sidekeep.store.runs import RunRow
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)

#: Who is told to have declined where nobody did.
DEADLINE = "deadline"


class Approval(NamedTuple):
    """One row; `request` and `decision` are JSON text."""

    k: int
    id: str
    thread: int
    run: int
    status: str
    deadline_at: int
    decided_at: int | None
    decided_by: str | None
    decision: str | None
    request: str

    @property
    def asked(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.request)
        return found

    @property
    def decided(self) -> dict[str, Any]:
        """The decision; one that nobody made is a decline."""
        found: dict[str, Any] = msgspec.json.decode(self.decision) if self.decision else {"kind": "decline"}
        return found


def ask(tx: Tx, thread: ThreadRow, run: RunRow, request: dict[str, Any]) -> str:
    """Put a request before the user; returns its id."""
    approval_id = tx.new_id()
    deadline = tx.now + APPROVAL_MS
    tx.run(sql.insert, (approval_id, thread.k, run.k, tx.now, deadline, dumps(request)))
    detail: dict[str, object] = {
        "turnId": run.turn_id,
        "runId": run.id,
        "approvalId": approval_id,
        "request": request,
        "deadlineAt": deadline,
    }
    tx.change("approval.request", thread.id, approval_id, detail=detail)
    return approval_id


def find(tx: Tx, approval_id: str) -> Approval | None:
    row = tx.one(f"{sql.columns} WHERE id = ?", (approval_id,))
    return None if row is None else Approval._make(row)


def of_run(tx: Tx, run: RunRow) -> list[Approval]:
    """All that were asked for a run, oldest first."""
    return [Approval._make(row) for row in tx.all(f"{sql.columns} WHERE run = ? ORDER BY k", (run.k,))]


def beside(tx: Tx, approval: Approval) -> list[Approval]:
    """The others of the same run that still wait."""
    rows = tx.all(
        f"{sql.columns} WHERE run = ? AND status = 'pending' AND k <> ? ORDER BY k", (approval.run, approval.k)
    )
    return [Approval._make(row) for row in rows]


def decide(tx: Tx, thread_id: str, approval: Approval, decision: dict[str, Any], by: str) -> bool:
    """Keep a decision; False when it is not pending any more, or its time is over."""
    tx.run(sql.decide, (tx.now, by, dumps(decision), approval.k, tx.now))
    if tx.changed_rows() != 1:
        return False
    _resolved(tx, thread_id, approval.id, decision, by)
    return True


def expire(tx: Tx, thread: ThreadRow, run: RunRow) -> int:
    """Decline those of a run whose time is over; returns how many."""
    return _end(tx, thread, run, "expired", {"kind": "decline", "note": "Nobody decided in time."}, DEADLINE, tx.now)


def cancel(tx: Tx, thread: ThreadRow, run: RunRow) -> int:
    """The run is over: nobody needs to decide any more."""
    return _end(tx, thread, run, "cancelled", {"kind": "cancel"}, "run", None)


def _end(
    tx: Tx, thread: ThreadRow, run: RunRow, status: str, decision: dict[str, Any], by: str, until: int | None
) -> int:
    pending = [a for a in of_run(tx, run) if a.status == "pending" and (until is None or a.deadline_at <= until)]
    for approval in pending:
        tx.run(sql.end, (status, tx.now, by, dumps(decision), approval.k))
        _resolved(tx, thread.id, approval.id, decision, by)
    return len(pending)


def _resolved(tx: Tx, thread_id: str, approval_id: str, decision: dict[str, Any], by: str) -> None:
    detail: dict[str, object] = {"approvalId": approval_id, "decision": decision, "by": by}
    tx.change("approval.resolved", thread_id, approval_id, detail=detail)
