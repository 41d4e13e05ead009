"""The transactions that end a run or a call of it: what was said, figures, states and events, all at once.

Each takes the run and its thread as the caller found them standing, and writes `move`, by which a COMMIT whose
outcome is unknown is settled.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from sidekeep.model.errors import SidekeepError
from sidekeep.store import approvals, browser_requests, interactions, runs, steers, tree
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps
from sidekeep.turns import budget
from sidekeep.turns.held import place

#: The code of the notice that a conversation outgrew its model.
CONTEXT_CUT = "context_cut"


@dataclass
class Said:
    """What an attempt has said: its text, and what the endpoint told about it."""

    text: str = ""
    reasoning: str = ""
    usage: dict[str, int] | None = None
    cost_usd: float | None = None
    provider_state: dict[str, Any] | None = None
    #: What the model did not get of the conversation (`fit.Cut`), None when it got all.
    cut: dict[str, int] | None = None
    model: str = ""
    connection_id: str = ""
    #: The items that the attempt showed, in order; the last one is the message.
    items: list[str] = field(default_factory=list)

    @staticmethod
    def of(partial: dict[str, str]) -> "Said":
        """From the partial text that a run's row keeps."""
        return Said(text=partial.get("text", ""), reasoning=partial.get("reasoning", ""))

    def partial(self) -> dict[str, str]:
        """The same, as the row keeps it."""
        return {name: text for name, text in (("text", self.text), ("reasoning", self.reasoning)) if text}

    @property
    def anything(self) -> bool:
        return bool(self.text or self.reasoning)


def complete(
    tx: Tx, thread: ThreadRow, run: RunRow, move: str, said: Said, stop_reason: str, *, node_id: str, watched: bool
) -> None:
    """A whole answer."""
    node = _write(tx, thread, run, said, stop_reason, node_id)
    if said.cut:
        _tell_of_cut(tx, thread, node, said.cut)
    _end(tx, thread, run, move, said, "completed", stop_reason, node)
    thread.set("turns", thread.turns + 1)
    _follow(tx, thread, run, "idle" if watched else "done", unread=not watched)


def keep(
    tx: Tx, thread: ThreadRow, run: RunRow, move: str, said: Said, stop_reason: str, *, node_id: str, state: str
) -> None:
    """An answer of a turn that goes on: the message, its figures, the end of its items, and the run's next state."""
    node = _write(tx, thread, run, said, stop_reason, node_id)
    runs.set_state(tx, run, state, move=move, last_node=run.last_node, **_figures(run, said))
    _count(tx, thread, run, said)
    who: dict[str, object] = {"turnId": run.turn_id, "runId": run.id}
    tx.change("item.complete", thread.id, run.id, detail={**who, "items": _items(said, node)})


def pause(tx: Tx, thread: ThreadRow, run: RunRow, move: str, *, watched: bool) -> None:
    """The turn's budget is spent: it waits for `run.resume`."""
    runs.set_state(tx, run, "paused_budget", move=move, stop_reason="budget_pause")
    detail: dict[str, object] = {"turnId": run.turn_id, "runId": run.id, "stopReason": "budget_pause", "items": []}
    told(tx, thread, run)
    tx.change("turn.complete", thread.id, run.id, detail=detail)
    thread.set("status", "needs_input")
    if not watched:
        thread.set("unread", 1)


def stop(tx: Tx, thread: ThreadRow, run: RunRow, move: str, said: Said, *, node_id: str | None = None) -> None:
    """The user stopped it: what was said stays as an interrupted message."""
    node = _write(tx, thread, run, said, "interrupted", node_id) if said.anything else None
    _take_in(tx, thread, run)
    _end(tx, thread, run, move, said, "interrupted", "interrupted", node)
    _follow(tx, thread, run, "idle", unread=False)


def fail(
    tx: Tx,
    thread: ThreadRow,
    run: RunRow,
    move: str,
    error: SidekeepError,
    *,
    watched: bool,
    said: Said | None = None,
    node_id: str | None = None,
) -> None:
    """It cannot go on: what was said stays as a message that ended in an error, and the error is told."""
    said = said or Said()
    node = _write(tx, thread, run, said, "error", node_id) if said.anything else None
    _take_in(tx, thread, run)
    fault = {"code": error.code or "internal", "message": error.message}
    _end(tx, thread, run, move, said, "failed", "error", node, fault)
    _follow(tx, thread, run, "failed", unread=not watched)


def interrupt_for_recovery(tx: Tx, thread: ThreadRow, run: RunRow, said: Said) -> None:
    """Its runner died in the middle of a model call: it waits for `run.resume`, its text kept in its row."""
    runs.set_state(
        tx,
        run,
        "interrupted",
        move=None,
        recoverable=1,
        partial=dumps(said.partial()) if said.anything else None,
    )
    thread.set("status", "interrupted")
    detail: dict[str, object] = {"runId": run.id, "turnId": run.turn_id}
    tx.change("run.state", thread.id, run.id, detail={**detail, "state": "interrupted"})
    tx.change("run.recovery_required", thread.id, run.id, detail=detail)


def hand_over(tx: Tx, thread: ThreadRow, run: RunRow, move: str) -> None:
    """The next runner goes on with it; one that waits for the user waits on as it is."""
    if run.state in runs.WAITING:
        runs.set_state(tx, run, run.state, move=move)
        return
    runs.set_state(tx, run, "handed_over", move=move)
    told(tx, thread, run)


def told(tx: Tx, thread: ThreadRow, run: RunRow) -> None:
    """Tell of a state that has no event of its own."""
    detail: dict[str, object] = {"runId": run.id, "turnId": run.turn_id, "state": run.state}
    tx.change("run.state", thread.id, run.id, detail=detail)


def cost_of(usage: dict[str, int], pricing: dict[str, Any] | None) -> float | None:
    """US dollars by prices for a million tokens; cached reads are subtracted first. None without prices."""
    if not pricing:
        return None
    cached = min(usage.get("cacheReadTokens", 0), usage["inputTokens"])
    price_in = float(pricing.get("input") or 0)
    price_cached = pricing.get("cacheRead")
    millionths = (
        (usage["inputTokens"] - cached) * price_in
        + cached * (price_in if price_cached is None else float(price_cached))
        + usage["outputTokens"] * float(pricing.get("output") or 0)
    )
    return millionths / 1_000_000


def _write(tx: Tx, thread: ThreadRow, run: RunRow, said: Said, stop_reason: str, node_id: str | None) -> tree.Node:
    payload: dict[str, Any] = {
        "content": [{"type": "text", "text": said.text}],
        "model": said.model,
        "connectionId": said.connection_id,
        "stopReason": stop_reason,
    }
    if not said.model and run.environment:
        from sidekeep.model import environment

        snapshot = environment.read(run.environment)
        payload["model"], payload["connectionId"] = snapshot["modelId"], snapshot["connectionId"]
    if said.reasoning:
        payload["reasoning"] = said.reasoning
    if said.usage is not None:
        payload["usage"] = said.usage
    if said.provider_state is not None:
        payload["providerState"] = said.provider_state
    parent, moves = place(tx, thread, run)
    node = tree.append(tx, thread, parent, "assistant_message", payload, node_id=node_id, move=moves)
    run.last_node = node.k
    return node


def _end(
    tx: Tx,
    thread: ThreadRow,
    run: RunRow,
    move: str,
    said: Said,
    state: str,
    stop_reason: str,
    node: tree.Node | None,
    fault: dict[str, str] | None = None,
) -> None:
    approvals.cancel(tx, thread, run)
    interactions.cancel(tx, thread, run)
    browser_requests.end_of_run(tx, run)
    runs.set_state(
        tx,
        run,
        state,
        move=move,
        last_node=run.last_node,
        recoverable=0,
        partial=None,
        finished_at=tx.now,
        stop_reason=stop_reason,
        error=dumps(fault) if fault else None,
        **_figures(run, said),
    )
    _count(tx, thread, run, said)
    end: dict[str, object] = {
        "turnId": run.turn_id,
        "runId": run.id,
        "stopReason": stop_reason,
        "items": _items(said, node),
    }
    if fault:
        end["error"] = fault
    tx.change("turn.complete", thread.id, run.id, detail=end)


def _tell_of_cut(tx: Tx, thread: ThreadRow, answer: tree.Node, cut: dict[str, int]) -> None:
    """A notice behind the first answer of a thread that did not see all of it; later ones are told by their items."""
    first, end = tree.first_key(thread.k), tree.end_key(thread.k)
    # Not by a JSON function: a damaged notice is no reason for an answer to fail.
    known = "SELECT 1 FROM nodes WHERE k BETWEEN ? AND ? AND type = 'system_notice' AND instr(payload, ?) LIMIT 1"
    if tx.one(known, (first, end, f'"code":"{CONTEXT_CUT}"')) is not None:
        return
    payload = {"code": CONTEXT_CUT, "text": f"This conversation no longer fits the model: {cut_words(cut)}."}
    tree.append(tx, thread, answer.k, "system_notice", payload, move=thread.leaf == answer.k)


def cut_words(cut: dict[str, int]) -> str:
    """What was left out, in words."""
    parts = [
        f"{cut[name]} {one if cut[name] == 1 else many}"
        for name, one, many in (
            ("pageTexts", "page text of an older turn was left out", "page texts of older turns were left out"),
            ("turns", "older turn was left out", "older turns were left out"),
            ("shortened", "page text was shortened", "page texts were shortened"),
        )
        if cut.get(name)
    ]
    return "; ".join(parts)


def _figures(run: RunRow, said: Said) -> dict[str, object]:
    """The run's own sums with those of this call."""
    before = msgspec.json.decode(run.usage) if run.usage else None
    usage = budget.summed(before, said.usage)
    return {"usage": dumps(usage) if usage else None, "cost_usd": run.cost_usd + (said.cost_usd or 0.0)}


def _count(tx: Tx, thread: ThreadRow, run: RunRow, said: Said) -> None:
    """The thread's sums, and the event with the figures of this call."""
    if said.usage is None:
        return
    thread.set("total_tokens", thread.total_tokens + budget.tokens_of(said.usage))
    thread.set("cost_usd", thread.cost_usd + (said.cost_usd or 0.0))
    figures: dict[str, object] = {"turnId": run.turn_id, "runId": run.id, "usage": said.usage}
    if said.cost_usd is not None:
        figures["costUsd"] = said.cost_usd
    tx.change("token.usage", thread.id, run.id, detail=figures)


def _items(said: Said, node: tree.Node | None) -> list[dict[str, str]]:
    items: list[dict[str, str]] = [{"itemId": item} for item in said.items]
    if items and node is not None:
        items[-1]["nodeId"] = node.id
    return items


def _take_in(tx: Tx, thread: ThreadRow, run: RunRow) -> None:
    """What the user added and no call has seen stays in the conversation, behind what was said."""
    if steers.any_waiting(tx, run):
        parent, moves = place(tx, thread, run)
        steers.take_in(tx, thread, run, parent, move=moves)


def _follow(tx: Tx, thread: ThreadRow, run: RunRow, status: str, *, unread: bool) -> None:
    """The thread's status after the run: the queue goes on, else as the turn ended."""
    if any(other.id != run.id for other in runs.open_of_thread(tx, thread.k)):
        status = "running"
    thread.set("status", status)
    if unread:
        thread.set("unread", 1)
