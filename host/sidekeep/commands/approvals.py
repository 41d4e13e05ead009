"""`approval.response`: the user's decision on what a tool may do; the first one stands."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import Conflict, NotFound
from sidekeep.model.ops.turns import ApprovalResponse
from sidekeep.store import approvals, grants, rules
from sidekeep.store.approvals import Approval
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx


def respond(tx: Tx, op: ApprovalResponse, ctx: Context) -> dict[str, Any]:
    """Raises NotFound; Conflict for another decision than the standing one, and after the deadline."""
    approval = approvals.find(tx, op.approval_id)
    row = None if approval is None else tx.thread_by_key(approval.thread)
    if approval is None or row is None or row.deleted_at is not None:
        raise NotFound(f"No approval {op.approval_id}.")
    decision = ctx.plain["decision"]
    if not approvals.decide(tx, row.id, approval, decision, ctx.client_id):
        _refuse_another(approval, decision)
        return {}
    _follow(tx, row, approval, decision["kind"], ctx.client_id)
    ctx.work = True
    return {}


def _refuse_another(approval: Approval, decision: dict[str, Any]) -> None:
    if approval.status == "pending":
        raise Conflict("The time for this decision is over; it counts as declined.")
    if approval.status != "decided" or approval.decided != decision:
        raise Conflict("This was decided before.", current={"decision": approval.decided, "by": approval.decided_by})


def _follow(tx: Tx, row: ThreadRow, approval: Approval, kind: str, by: str) -> None:
    """What the decision means beyond the one act."""
    asked = approval.asked
    tool, origin = str(asked.get("tool", "")), str(asked.get("origin") or "*")
    if kind == "acceptForSession":
        grants.give(tx, row.k, tool, origin)
    elif kind == "acceptForSite":
        rules.save(tx, tool, origin, "allow")
    if kind in ("acceptForSession", "acceptForSite"):
        for other in approvals.beside(tx, approval):
            # Asked for the same reason: that was answered. What is sensitive in itself is still asked.
            if _alike(other.asked, asked):
                approvals.decide(tx, row.id, other, {"kind": "accept"}, by)
    elif kind == "cancel":
        tx.run("UPDATE runs SET interrupt_requested = 1, updated_at = ? WHERE k = ?", (tx.now, approval.run))
        tx.change("run.interrupt", row.id)


def _alike(other: dict[str, Any], asked: dict[str, Any]) -> bool:
    same = all(other.get(member) == asked.get(member) for member in ("tool", "origin"))
    return same and other.get("reason") in ("policy", "sensitive_site")
