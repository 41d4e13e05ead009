"""The transactions in the middle of a turn: calls asked for, judged, asked about, answered; each a whole move.

Each takes the run and its thread as the caller found them standing. A result is a node with its item's id, so that
what is on disk tells which items are finished, whatever the live file says.
"""

from dataclasses import dataclass, field
from typing import Any

from sidekeep.model.errors import NotFound
from sidekeep.model.limits import TOOL_FAULTS_HINT, TOOL_FAULTS_STOP
from sidekeep.store import approvals, attachments, interactions, runs, tree
from sidekeep.store.approvals import Approval
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps
from sidekeep.turns import finish, gatekeeper
from sidekeep.turns.finish import Said
from sidekeep.turns.gatekeeper import ALLOW, ASK, DENY, Case, Verdict
from sidekeep.turns.held import Held, place
from sidekeep.turns.progress import Call, Progress, of_run
from sidekeep.turns.tools import browser, registry
from sidekeep.turns.tools.descriptor import Args, BadArguments, BrowserTool, InteractionTool, Outcome, Tool

_DECLINED = {"decline": "The user declined this.", "cancel": "The user stopped this."}


@dataclass
class Ready:
    """A call that may act now."""

    call: Call
    tool: Tool
    args: Args


@dataclass
class Gate:
    """What became of the pending calls: `ready` may act, `waiting` are before the user, `done` have a result."""

    ready: list[Ready] = field(default_factory=list)
    waiting: int = 0
    done: list[str] = field(default_factory=list)


def called(tx: Tx, thread: ThreadRow, run: RunRow, move: str, said: Said, calls: list[Call], *, node_id: str) -> None:
    """The model asks for tools: its message and its calls, and from now on the run executes them."""
    finish.keep(tx, thread, run, move, said, "tool_use", node_id=node_id, state="executing_tool")
    for call in calls:
        tool = registry.TOOLS.get(call.name)
        level = tool.level if tool is not None else "builtin"
        payload = {"itemId": call.item_id, "toolName": call.name, "params": call.arguments, "level": level}
        _append(tx, thread, run, "tool_call", payload)
    _mark(tx, run)


def gate(tx: Tx, thread: ThreadRow, run: RunRow, move: str, mine: Held) -> Gate:
    """Judge every pending call: give those that may not act their result, put before the user what must be asked."""
    approvals.expire(tx, thread, run)
    progress = of_run(tx, run.id)
    standing = {str(approval.asked.get("itemId")): approval for approval in approvals.of_run(tx, run)}
    found = Gate()
    done: list[tuple[str, Outcome]] = []
    for call in progress.pending:
        try:
            ready = read(mine, call)
            verdict = judged(tx, mine, run, progress, ready, standing.get(call.item_id))
        except BadArguments as fault:
            done.append((call.item_id, Outcome(False, fault.message)))
            continue
        approval = standing.get(call.item_id)
        if approval is not None and approval.status != "pending":
            _note(tx, thread, run, approval)
        if verdict.kind == DENY:
            done.append((call.item_id, _denied(verdict, approval)))
        elif verdict.kind == ASK:
            if approval is None:
                approvals.ask(tx, thread, run, _request(mine, run, progress, ready, verdict))
            found.waiting += 1
        else:
            found.ready.append(ready)
    results(tx, thread, run, done, progress.faults)
    found.done = [item_id for item_id, _ in done]
    _move(tx, thread, run, "waiting_approval" if found.waiting else "executing_tool", move)
    return found


def read(mine: Held, call: Call) -> Ready:
    """The call with its tool and arguments. Raises BadArguments for a tool that this run was not offered."""
    offered = {str(entry["name"]) for entry in mine.environment["toolCatalog"]}
    tool = registry.TOOLS.get(call.name) if call.name in offered else None
    if tool is None:
        raise BadArguments(f"There is no tool {call.name[:80]!r}. There are: {', '.join(sorted(offered))}.")
    return Ready(call, tool, tool.read(call.arguments))


def judged(tx: Tx, mine: Held, run: RunRow, progress: Progress, ready: Ready, approval: Approval | None) -> Verdict:
    """The verdict as things are now, with what the user decided on this call. Raises BadArguments."""
    if isinstance(ready.tool, InteractionTool):
        ready.tool.request(ready.args, tx.now)  # what cannot be asked is said at once
    verdict = gatekeeper.verdict(tx, run.thread, _case(mine, run, progress, ready))
    if verdict.kind == DENY or approval is None:
        return verdict
    if approval.status == "pending":
        return Verdict(ASK, verdict.reason)
    accepted = approval.status == "decided" and str(approval.decided["kind"]).startswith("accept")
    return Verdict(ALLOW if accepted else DENY, "user")


def _case(mine: Held, run: RunRow, progress: Progress, ready: Ready) -> Case:
    acting = progress.acting(mine.thread_id, run, ready.call.item_id)
    url = browser.address_of(acting, ready.args) if isinstance(ready.tool, BrowserTool) else ""
    tab = browser.tab_of(acting, ready.args) if url else None
    policy = str(mine.environment["permissionPolicy"])
    here = tab is not None and tab == progress.here
    return Case(ready.tool, ready.args, policy, url, here, progress.tainted, progress.sites)


def _request(mine: Held, run: RunRow, progress: Progress, ready: Ready, verdict: Verdict) -> dict[str, Any]:
    """What the user is shown."""
    case = _case(mine, run, progress, ready)
    request: dict[str, Any] = {
        "kind": "tool",
        "tool": ready.tool.name,
        "itemId": ready.call.item_id,
        "title": ready.tool.asks(ready.args)[:2_000],
        "params": ready.call.arguments,
        "level": ready.tool.level,
        "risk": ready.tool.risk,
        "reason": verdict.reason,
    }
    if case.url:
        request["origin"], request["url"] = gatekeeper.origin_of(case.url), case.url
    return request


def _denied(verdict: Verdict, approval: Approval | None) -> Outcome:
    if verdict.reason == "rule" or approval is None:
        return Outcome(False, "The user's rules do not allow this. Do not try it again.", {"denied": verdict.reason})
    decision = approval.decided
    text = (
        "Nobody decided in time, so it was not done."
        if approval.status == "expired"
        else _DECLINED.get(str(decision["kind"]), _DECLINED["decline"])
    )
    note = str(decision.get("note", "")) if approval.status == "decided" else ""
    return Outcome(False, f"{text} {note}".strip(), {"denied": "user", "decision": decision})


def _note(tx: Tx, thread: ThreadRow, run: RunRow, approval: Approval) -> None:
    """The decision as a node of the conversation, once."""
    if tx.one("SELECT 1 FROM nodes WHERE id = ?", (approval.id,)) is not None:
        return
    payload = {
        "approvalId": approval.id,
        "request": approval.asked,
        "decision": approval.decided,
        "ts": approval.decided_at or tx.now,
    }
    _append(tx, thread, run, "approval_decision", payload, node_id=approval.id)


def interact(tx: Tx, thread: ThreadRow, run: RunRow, move: str, ready: list[Ready]) -> Gate:
    """Put questions before the user, and take each answer once."""
    interactions.expire(tx, thread, run)
    progress = of_run(tx, run.id)
    pending = {call.item_id for call in progress.pending}
    standing = interactions.of_run(tx, run)
    found = Gate()
    done: list[tuple[str, Outcome]] = []
    for each in ready:
        item_id, tool = each.call.item_id, each.tool
        if not isinstance(tool, InteractionTool) or item_id not in pending:
            continue
        asked = standing.get(item_id)
        if asked is None:
            try:
                request, deadline = tool.request(each.args, tx.now)
            except BadArguments as fault:
                done.append((item_id, Outcome(False, fault.message)))
                continue
            interactions.ask(tx, thread, run, item_id, request, deadline)
            found.waiting += 1
        elif asked.status == "pending":
            found.waiting += 1
        elif interactions.claim(tx, asked):
            payload = {
                "interactionId": asked.id,
                "request": asked.asked,
                "response": asked.answer or {},
                "respondedAt": asked.responded_at or tx.now,
            }
            _append(tx, thread, run, "interaction_response", payload, node_id=asked.id)
            done.append((item_id, tool.take(each.args, asked.answer)))
    results(tx, thread, run, done, progress.faults)
    found.done = [item_id for item_id, _ in done]
    _move(tx, thread, run, "waiting_interaction" if found.waiting else "executing_tool", move)
    return found


def results(tx: Tx, thread: ThreadRow, run: RunRow, done: list[tuple[str, Outcome]], faults: int) -> None:
    """Write results, one node an item, and name the items that are finished by them."""
    items: list[dict[str, object]] = []
    for item_id, outcome in done:
        faults = 0 if outcome.ok else faults + 1
        checked = _with_pictures(tx, thread, outcome)
        text = checked.text + _advice(faults)
        payload: dict[str, Any] = {
            "itemId": item_id,
            "ok": checked.ok,
            "contentForLlm": [{"type": "text", "text": text}, *checked.images],
        }
        if checked.details:
            payload["details"] = checked.details
        _append(tx, thread, run, "tool_result", payload, node_id=item_id)
        result = {"ok": checked.ok, **({"details": checked.details} if checked.details else {})}
        items.append({"itemId": item_id, "nodeId": item_id, "result": result})
    if items:
        _mark(tx, run)
        who: dict[str, object] = {"turnId": run.turn_id, "runId": run.id}
        tx.change("item.complete", thread.id, run.id, detail={**who, "items": items})


def _with_pictures(tx: Tx, thread: ThreadRow, outcome: Outcome) -> Outcome:
    """A picture that is no attachment of this conversation is none."""
    for image in outcome.images:
        try:
            attachment = attachments.stored(tx, str(image["attachmentId"]))
        except NotFound:
            attachment = None
        if attachment is None or attachment.thread != thread.id or not attachment.mime.startswith("image/"):
            return Outcome(False, "The browser's picture did not arrive.", outcome.details)
        image["mime"] = attachment.mime
    return outcome


def _advice(faults: int) -> str:
    if faults >= TOOL_FAULTS_STOP:
        return "\n\nToo many tools failed in a row: answer now, without tools."
    if faults >= TOOL_FAULTS_HINT:
        return f"\n\n{faults} tool calls in a row failed: look at what they say before you try another way."
    return ""


def _append(
    tx: Tx, thread: ThreadRow, run: RunRow, node_type: str, payload: dict[str, Any], *, node_id: str | None = None
) -> tree.Node:
    parent, moves = place(tx, thread, run)
    node = tree.append(tx, thread, parent, node_type, payload, node_id=node_id, move=moves)
    run.last_node = node.k
    return node


def _mark(tx: Tx, run: RunRow) -> None:
    tx.run("UPDATE runs SET last_node = ? WHERE k = ?", (run.last_node, run.k))


def _move(tx: Tx, thread: ThreadRow, run: RunRow, state: str, move: str) -> None:
    told = state != run.state
    runs.set_state(tx, run, state, move=move, last_node=run.last_node, partial=None)
    thread.set("status", "needs_input" if state in runs.WAITING else "running")
    if told:
        finish.told(tx, thread, run)


def acted(tx: Tx, thread: ThreadRow, run: RunRow, move: str, item_id: str, outcome: Outcome, faults: int) -> None:
    """What a tool gave, after so many failures in a row; the run goes on executing the others."""
    results(tx, thread, run, [(item_id, outcome)], faults)
    _move(tx, thread, run, "executing_tool", move)


def acting_now(tx: Tx, run: RunRow, move: str, item_id: str | None) -> None:
    """A tool begins to act outside the store. `item_id` names one that must not act twice: if nobody learns what became
    of it, the user is asked."""
    partial = dumps({"acting": item_id}) if item_id else None
    runs.set_state(tx, run, "executing_tool", move=move, last_node=run.last_node, partial=partial)
