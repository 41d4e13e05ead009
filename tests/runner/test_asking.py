"""What a user is asked in the middle of a run: decisions, answers, deadlines, and what survives which death."""

import json
import signal
from datetime import UTC, datetime

import pytest

from runner.conftest import Desk, browser, told
from sidekeep.model.clock import now_ms
from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from support.runners import kill_runner, until
from support.steered import Steered


def test_the_first_decision_stands_and_what_was_allowed_for_the_session_is_not_asked_again(
    desk: Desk, far: Steered
) -> None:
    """Two panels: the card goes in the other one; another decision is refused with the standing one."""
    other = desk.store.open(subscribe=desk.thread)
    ack = desk.ask("Remember", policy="always")
    far.call().use(("memory_write", {"key": "tea", "value": "green"}))
    asked = desk.host.event("approval.request")
    assert other.event("approval.request")["approvalId"] == asked["approvalId"]
    assert desk.snapshot()["thread"]["status"] == "needs_input"  # type: ignore[index]
    (shown,) = desk.snapshot()["approvals"]  # type: ignore[misc]
    assert (shown["approvalId"], shown["deadlineAt"]) == (asked["approvalId"], asked["deadlineAt"])
    accept = {"kind": "acceptForSession"}
    other.ack("approval.response", approvalId=asked["approvalId"], decision=accept)
    assert desk.host.event("approval.resolved")["decision"] == accept
    desk.host.ack("approval.response", approvalId=asked["approvalId"], decision=accept)
    refused = desk.host.refused("approval.response", approvalId=asked["approvalId"], decision={"kind": "decline"})
    assert (refused["code"], refused["current"]["decision"]) == ("conflict", accept)
    far.call().use(("memory_write", {"key": "milk", "value": "none"}))
    far.call().end()
    assert desk.ended(ack) == "end"
    assert len(desk.host.seen("approval.request")) == 1
    assert {m["key"] for m in desk.host.query("memory.list")["memories"]} == {"tea", "milk"}
    nodes = [node["type"] for node in desk.snapshot()["nodes"]]  # type: ignore[attr-defined]
    assert nodes.count("approval_decision") == 1


def test_declined_with_a_note_cancelled_and_denied_by_a_rule(desk: Desk, far: Steered) -> None:
    """The note reaches the model; cancel stops the turn and its card goes; a deny rule asks nobody."""
    ack = desk.ask("Remember", policy="always")
    far.call().use(("memory_write", {"key": "tea", "value": "green"}))
    asked = desk.host.event("approval.request")
    decision = {"kind": "decline", "note": "Too private."}
    desk.host.ack("approval.response", approvalId=asked["approvalId"], decision=decision)
    call = far.call()
    assert told(call) == ["The user declined this. Too private."]
    call.use(("memory_write", {"key": "tea", "value": "green"}), ("save_artifact", {"name": "a.md", "content": "x"}))
    cards = [desk.host.event("approval.request") for _ in range(2)]
    desk.host.ack("approval.response", approvalId=cards[0]["approvalId"], decision={"kind": "cancel"})
    assert desk.ended(ack) == "interrupted"
    resolved = [e["approvalId"] for e in desk.host.seen("approval.resolved")]
    assert sorted(resolved) == sorted([asked["approvalId"], *(card["approvalId"] for card in cards)])
    assert desk.host.query("memory.list")["memories"] == []
    desk.host.ack("rule.save", rule={"tool": "memory_write", "origin": "*", "verdict": "deny"})
    ack = desk.ask("Again", policy="auto")
    far.call().use(("memory_write", {"key": "tea", "value": "green"}))
    call = far.call()
    assert "rules do not allow" in told(call)[-1]
    call.end()
    assert desk.ended(ack) == "end"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_questions_and_times_survive_the_runner_and_are_claimed_once(
    desk: Desk, far: Steered, number: signal.Signals
) -> None:
    """Asked, killed, asked still; the first answer stands; a wait ends by itself."""
    ack = desk.ask("Ask me")
    far.call().use(("ask_user", {"question": "Which?", "options": ["a", "b"]}), ("wait_until", {"seconds": 1}))
    asked = desk.host.event("interaction.request", where=lambda e: e["request"]["kind"] == "ask_user")
    assert asked["request"] == {"kind": "ask_user", "question": "Which?", "options": ["a", "b"]}
    kill_runner(desk.store.state, number)
    until(lambda: any(e["by"] == "deadline" for e in desk.host.seen("interaction.resolved")), "end of the wait")
    assert [i["interactionId"] for i in desk.snapshot()["interactions"]] == [asked["interactionId"]]  # type: ignore[attr-defined]
    members = {"interactionId": asked["interactionId"]}
    assert desk.host.refused("interaction.response", **members, response={"reply": "a"})["code"] == "invalid_command"
    desk.host.ack("interaction.response", **members, response={"answer": "a"})
    desk.host.ack("interaction.response", **members, response={"answer": "a"})
    assert desk.host.refused("interaction.response", **members, response={"answer": "b"})["code"] == "conflict"
    call = far.call()
    assert sorted(told(call)) == ["The time has come.", "The user answers: a"]
    call.end()
    assert desk.ended(ack) == "end"


def test_stopped_while_it_waits_for_the_user(desk: Desk, far: Steered) -> None:
    """Esc ends it at once, the card goes, and a late answer is refused."""
    ack = desk.ask("Ask me")
    far.call().use(("ask_user", {"question": "Which?"}))
    asked = desk.host.event("interaction.request")
    desk.host.ack("turn.interrupt", threadId=desk.thread)
    assert desk.host.event("turn.complete", runId=ack["runId"], timeout=2)["stopReason"] == "interrupted"
    assert desk.snapshot()["interactions"] == []
    late = desk.host.refused("interaction.response", interactionId=asked["interactionId"], response={"answer": "a"})
    assert late["code"] == "conflict"
    ack = desk.ask("And now?")
    far.call().end()
    assert desk.ended(ack) == "end"


def test_sites_that_are_never_captured_and_rules_made_meanwhile(desk: Desk, far: Steered) -> None:
    """Neither their text nor that they are open; what was denied while the card was up is not done, though accepted."""
    desk.host.ack("settings.set", patch={"capture.blocked_sites": ["secret.example"]})
    ack = desk.ask("Look", policy="always")
    far.call().use(("list_tabs", {}))
    asked = desk.host.event("approval.request")
    desk.host.ack("approval.response", approvalId=asked["approvalId"], decision={"kind": "accept"})
    urls = ["https://www.secret.example/a", "https://other.example/", "https://deep.secret.example/"]
    browser(desk.host, {"tabs": [{"tabId": at, "title": "t", "url": url} for at, url in enumerate(urls)]})
    call = far.call()
    assert "https://other.example/" in told(call)[0]
    assert "secret.example" not in json.dumps(call.body)
    call.use(("read_page", {"tabId": 1}))
    asked = desk.host.event("approval.request")
    desk.host.ack("settings.set", patch={"capture.blocked_sites": ["other.example"]})
    desk.host.ack("approval.response", approvalId=asked["approvalId"], decision={"kind": "accept"})
    call = far.call()
    assert "rules do not allow" in told(call)[1]
    assert len(desk.host.seen("browser.request")) == 1
    call.end()
    assert desk.ended(ack) == "end"


def test_work_handed_over_and_a_wait_that_the_user_ends(desk: Desk, far: Steered) -> None:
    """What the user says reaches the model; a wait may be ended early, lasts until the time it
    names, and is refused at once when it is too long."""
    ack = desk.ask("Help")
    far.call().use(("hand_over", {"task": "Sign in"}), ("wait_until", {"seconds": 3600}))
    cards = {}
    for _ in range(2):
        card = desk.host.event("interaction.request")
        cards[card["request"]["kind"]] = card
    assert cards["wait_until"]["deadlineAt"] == cards["wait_until"]["request"]["until"]
    assert "deadlineAt" not in cards["hand_over"]
    done = {"done": True, "note": "As ada."}
    desk.host.ack("interaction.response", interactionId=cards["hand_over"]["interactionId"], response=done)
    early = {"continue": True}
    desk.host.ack("interaction.response", interactionId=cards["wait_until"]["interactionId"], response=early)
    call = far.call()
    assert told(call) == ["The user says it is done. As ada.", "The user ended the wait early."]
    call.use(("wait_until", {"at": "2999-01-01T00:00:00Z"}), ("wait_until", {"at": "2999-01-01T00:00:00"}))
    call = far.call()
    assert "24 hours at most" in told(call)[2]
    assert "needs its zone" in told(call)[3]
    soon = datetime.fromtimestamp(now_ms() // 1000 + 3600, UTC)
    call.use(("wait_until", {"at": soon.isoformat(), "reason": "the news"}))
    card = desk.host.event("interaction.request")
    assert card["deadlineAt"] == soon.timestamp() * 1000
    assert card["request"] == {"kind": "wait_until", "until": card["deadlineAt"], "reason": "the news"}
    members = {"interactionId": card["interactionId"]}
    refused = desk.host.refused("interaction.response", **members, response={"continue": False})
    assert refused["code"] == "invalid_command"
    desk.host.ack("interaction.response", **members, response=early)
    call = far.call()
    assert told(call)[4] == "The user ended the wait early."
    call.end()
    assert desk.ended(ack) == "end"


def hasten(desk: Desk, table: str) -> None:
    """The deadline of what waits comes in a fifth of a second, and everybody looks again."""
    opened = open_store(Places(str(desk.store.state)))
    try:
        Doorway(opened).run(lambda tx: tx.run(f"UPDATE {table} SET deadline_at = ?", (tx.now + 200,)))
    finally:
        opened.close()
    desk.host.ack("memory.set", key="bell", value="rung")


@pytest.mark.parametrize("dies", [False, True])
def test_a_deadline_that_passes_declines_also_while_no_runner_lives(desk: Desk, far: Steered, dies: bool) -> None:
    """Nobody decided: not done, told to the model and to every panel, and a late decision is refused."""
    ack = desk.ask("Remember", policy="always")
    far.call().use(("memory_write", {"key": "tea", "value": "green"}))
    asked = desk.host.event("approval.request")
    if dies:
        kill_runner(desk.store.state)
    hasten(desk, "approvals")
    resolved = desk.host.event("approval.resolved", approvalId=asked["approvalId"])
    assert (resolved["decision"]["kind"], resolved["by"]) == ("decline", "deadline")
    call = far.call()
    assert told(call) == ["Nobody decided in time, so it was not done."]
    late = desk.host.refused("approval.response", approvalId=asked["approvalId"], decision={"kind": "accept"})
    assert late["code"] == "conflict"
    call.end()
    assert desk.ended(ack) == "end"
    assert [memory["key"] for memory in desk.host.query("memory.list")["memories"]] == ["bell"]


def test_a_browser_that_does_not_answer(desk: Desk, far: Steered) -> None:
    """The tool fails at the deadline, the turn goes on, and what comes later is refused."""
    ack = desk.ask("Look")
    far.call().use(("list_tabs", {}))
    request = desk.host.event("browser.request")
    hasten(desk, "browser_requests")
    call = far.call()
    assert told(call) == ["The browser is not open, or its panel does not answer."]
    late = {"requestId": request["requestId"], "ok": True, "result": {"tabs": []}}
    assert desk.host.refused("browser.response", **late)["code"] == "conflict"
    call.end()
    assert desk.ended(ack) == "end"


def test_what_is_allowed_for_the_session_answers_the_cards_beside_it(desk: Desk, far: Steered) -> None:
    """Two alike are one decision; what is sensitive in itself is asked on its own."""
    ack = desk.ask("Remember", policy="always")
    values = {"a": "1", "b": "2", "c": "4111 1111 1111 1111"}
    far.call().use(*(("memory_write", {"key": key, "value": value}) for key, value in values.items()))
    cards = {}
    for _ in values:
        card = desk.host.event("approval.request")
        cards[json.loads(card["request"]["params"])["key"]] = card
    assert {key: card["request"]["reason"] for key, card in cards.items()} == {
        "a": "policy", "b": "policy", "c": "sensitive_payload",
    }  # fmt: skip
    first = cards["a"]["approvalId"]
    desk.host.ack("approval.response", approvalId=first, decision={"kind": "acceptForSession"})
    desk.host.event("approval.resolved", approvalId=cards["b"]["approvalId"])
    (left,) = desk.snapshot()["approvals"]  # type: ignore[misc]
    assert left["approvalId"] == cards["c"]["approvalId"]
    desk.host.ack("approval.response", approvalId=left["approvalId"], decision={"kind": "decline"})
    far.call().end()
    assert desk.ended(ack) == "end"
    assert [memory["key"] for memory in desk.host.query("memory.list")["memories"]] == ["a", "b"]
