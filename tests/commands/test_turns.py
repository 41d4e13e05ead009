"""Turns as the host admits them, with no runner at work: runs, their queue, and what may not be moved meanwhile."""

import uuid
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import said, text


def begin(port: HostClient, words: str = "q", **members: Any) -> tuple[str, dict[str, Any]]:
    """A thread with a run that waits for a runner."""
    thread = port.ack("thread.create")["threadId"]
    return thread, port.ack("turn.submit", threadId=thread, input=text(words), **members)


def shown(port: HostClient, thread: str) -> dict[str, Any]:
    return dict(port.query("thread.subscribe", threadId=thread))


def test_a_submitted_turn_is_message_and_run_in_one(port: HostClient) -> None:
    """`turn.submit` → ack `runId`, `turnId`, `userNodeId`; the thread is `running` from admission."""
    sent = {**text("What is this?"), "attachedContext": [PAGE]}
    thread = port.ack("thread.create")["threadId"]
    port.query("thread.subscribe", threadId=thread)
    answer = port.ack(
        "turn.submit",
        threadId=thread,
        input=sent,
        overrides={"permissionPolicy": "always"},
        browserContext={"windowId": 1, "tabId": 2, "url": "https://a.example/", "title": "A"},
    )
    assert set(answer) == {"type", "submissionId", "runId", "turnId", "userNodeId"}
    found = shown(port, thread)
    (node,) = found["nodes"]
    assert (node["id"], node["type"], node["payload"]) == (answer["userNodeId"], "user_message", sent)
    assert found["thread"]["status"] == "running"
    assert found["thread"]["preview"] == found["thread"]["title"] == "What is this?"
    assert found["activeTurn"] == {
        "runId": answer["runId"],
        "turnId": answer["turnId"],
        "state": "queued",
        "items": [],
    }
    run = port.query("run.get", runId=answer["runId"])["run"]
    assert (run["state"], run["threadId"], run["turnId"]) == ("queued", thread, answer["turnId"])
    assert (run["input"], run["overrides"]) == (sent, {"permissionPolicy": "always"})
    assert run["browserContext"]["tabId"] == 2
    assert run["userNodeId"] == answer["userNodeId"]
    assert "environment" not in run  # a queued run has none
    told = port.event("thread.node", threadId=thread)
    assert told["node"]["id"] == answer["userNodeId"]
    assert port.event("thread.updated", threadId=thread)["patch"]["status"] == "running"


PAGE = {
    "kind": "page",
    "title": "A",
    "url": "https://a.example/",
    "text": "words",
    "trust": "untrusted",
    "provenance": "page",
}


def test_the_next_message_waits_in_the_queue(port: HostClient) -> None:
    """While a run is active: queued, ack `runId`, `turnId`, `queued:true`; its user node is written when it starts."""
    thread, _ = begin(port)
    port.query("thread.subscribe", threadId=thread)
    waiting = port.ack("turn.submit", threadId=thread, input=text("next"))
    assert set(waiting) == {"type", "submissionId", "runId", "turnId", "queued"}
    assert waiting["queued"] is True
    found = shown(port, thread)
    assert len(found["nodes"]) == 1
    assert found["queue"] == [{"runId": waiting["runId"], "input": text("next"), "revision": 1}]
    told = port.event("queue.updated", threadId=thread, timeout=5)
    assert [entry["runId"] for entry in told["queue"]] == [waiting["runId"]]


def test_eight_wait_and_the_ninth_is_told_so(port: HostClient) -> None:
    """8 wait at most: `queue_full`, retryable, by either op."""
    thread, _ = begin(port)
    runs = [
        port.ack("turn.enqueue" if number % 2 else "turn.submit", threadId=thread, input=text(str(number)))["runId"]
        for number in range(8)
    ]
    for op in ("turn.submit", "turn.enqueue"):
        refusal = port.refused(op, threadId=thread, input=text("ninth"))
        assert (refusal["code"], refusal["retryable"]) == ("queue_full", True)
    assert [entry["runId"] for entry in shown(port, thread)["queue"]] == runs


def test_what_waits_can_be_changed_and_taken_back(port: HostClient) -> None:
    """`queue.update`, `queue.remove`; a started run → `conflict`."""
    thread, active = begin(port)
    first = port.ack("turn.enqueue", threadId=thread, input=text("first"))["runId"]
    second = port.ack("turn.enqueue", threadId=thread, input=text("second"))["runId"]
    port.ack("queue.update", threadId=thread, runId=first, input=text("changed"))
    port.ack("queue.update", threadId=thread, runId=first, overrides={"permissionPolicy": "auto"})
    entry = shown(port, thread)["queue"][0]
    assert (entry["input"], entry["overrides"], entry["revision"]) == (
        text("changed"),
        {"permissionPolicy": "auto"},
        3,
    )
    port.ack("queue.remove", threadId=thread, runId=second)
    assert [entry["runId"] for entry in shown(port, thread)["queue"]] == [first]
    for op in ("queue.update", "queue.remove"):
        assert port.refused(op, threadId=thread, runId=active["runId"])["code"] == "conflict"
        assert port.refused(op, threadId=thread, runId=second)["code"] == "conflict"
        assert port.refused(op, threadId=thread, runId=str(uuid.uuid4()))["code"] == "not_found"
        other = port.ack("thread.create")["threadId"]
        assert port.refused(op, threadId=other, runId=first)["code"] == "not_found"


def test_the_branch_does_not_move_under_a_run(port: HostClient) -> None:
    """`run_active`: selectBranch, turn.fork, branch.delete, node.delete on the active path, node.append of messages."""
    thread = port.ack("thread.create")["threadId"]
    root = port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("q"))["nodeId"]
    aside = port.ack("node.append", threadId=thread, nodeType="assistant_message", payload=said("a"))["nodeId"]
    port.ack("node.append", threadId=thread, parentId=root, nodeType="assistant_message", payload=said("b"))
    port.ack("turn.submit", threadId=thread, input=text("runs"))
    for op, members in (
        ("thread.selectBranch", {"nodeId": aside}),
        ("turn.fork", {"siblingOfNodeId": root, "input": text("x")}),
        ("turn.fork", {"siblingOfNodeId": aside}),
        ("branch.delete", {"leafId": aside}),
        ("node.delete", {"nodeId": root}),
        ("node.append", {"nodeType": "user_message", "payload": text("x")}),
        ("node.append", {"nodeType": "assistant_message", "payload": said("x"), "parentId": root}),
    ):
        refusal = port.refused(op, threadId=thread, **members)
        assert (refusal["code"], refusal["retryable"]) == ("run_active", True), op
    before = shown(port, thread)
    port.ack("node.delete", threadId=thread, nodeId=aside)  # beside the active path
    port.ack("node.append", threadId=thread, nodeType="system_notice", payload={"text": "a notice"})
    port.ack("thread.update", threadId=thread, patch={"title": "may change"})
    after = shown(port, thread)
    assert after["thread"]["leafId"] == before["thread"]["leafId"]
    assert [node["id"] for node in after["nodes"]] == [node["id"] for node in before["nodes"]]


def test_an_interrupt_before_a_start_ends_the_run_at_once(port: HostClient) -> None:
    """`turn.interrupt`: ack, idempotent; run `interrupted`, thread `idle`; the message stays."""
    thread, run = begin(port)
    port.query("thread.subscribe", threadId=thread)
    port.ack("turn.interrupt", threadId=thread)
    assert port.query("run.get", runId=run["runId"])["run"]["state"] == "interrupted"
    found = shown(port, thread)
    assert (found["thread"]["status"], found["activeTurn"], len(found["nodes"])) == ("idle", None, 1)
    assert port.event("turn.complete", threadId=thread)["stopReason"] == "interrupted"
    port.ack("turn.interrupt", threadId=thread)
    assert shown(port, thread) == found
    assert port.ack("turn.submit", threadId=thread, input=text("again"))["userNodeId"]


def test_the_queue_goes_on_after_an_interrupt(port: HostClient) -> None:
    """Thread `idle`, or `running` when a queued run follows: the queue goes on."""
    thread, _ = begin(port)
    waiting = port.ack("turn.enqueue", threadId=thread, input=text("next"))["runId"]
    port.ack("turn.interrupt", threadId=thread)
    found = shown(port, thread)
    assert found["thread"]["status"] == "running"
    assert [entry["runId"] for entry in found["queue"]] == [waiting]


def test_an_edited_message_is_a_sibling(port: HostClient) -> None:
    """`turn.fork` with `input`: edit and resend, beside the message, which stays."""
    thread, first = begin(port, "first words")
    port.ack("turn.interrupt", threadId=thread)
    answer = port.ack("turn.fork", threadId=thread, siblingOfNodeId=first["userNodeId"], input=text("better words"))
    assert {"runId", "turnId"} <= set(answer)
    found = shown(port, thread)
    (node,) = found["nodes"]
    assert node["payload"] == text("better words")
    assert found["siblings"][node["id"]]["ids"] == [first["userNodeId"], node["id"]]
    assert found["activeTurn"]["runId"] == answer["runId"]


def test_a_regenerated_answer_is_a_new_turn_under_the_same_message(port: HostClient) -> None:
    """`turn.fork` without `input`, from any node of an answer: the whole turn anew under its user node."""
    thread = port.ack("thread.create")["threadId"]
    asked = port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("q"))["nodeId"]
    answer = port.ack("node.append", threadId=thread, nodeType="assistant_message", payload=said("a"))["nodeId"]
    run = port.ack("turn.fork", threadId=thread, siblingOfNodeId=answer)
    found = shown(port, thread)
    assert [node["id"] for node in found["nodes"]] == [asked]
    assert found["thread"]["leafId"] == asked
    got = port.query("run.get", runId=run["runId"])["run"]
    assert (got["userNodeId"], got["input"]) == (asked, text("q"))


def test_what_cannot_be_forked_is_refused(port: HostClient) -> None:
    """Only a user's message can be edited; above a root answer there is nothing to regenerate."""
    thread = port.ack("thread.create")["threadId"]
    answer = port.ack("node.append", threadId=thread, nodeType="assistant_message", payload=said("a"))["nodeId"]
    refusal = port.refused("turn.fork", threadId=thread, siblingOfNodeId=answer, input=text("x"))
    assert refusal["code"] == "invalid_command"
    assert port.refused("turn.fork", threadId=thread, siblingOfNodeId=answer)["code"] == "invalid_command"
    assert port.refused("turn.fork", threadId=thread, siblingOfNodeId=str(uuid.uuid4()))["code"] == "not_found"


def test_a_run_that_was_not_interrupted_cannot_be_resumed(port: HostClient) -> None:
    """`run.resume` → `conflict` where there is nothing to continue; `not_found` for another thread's run."""
    thread, run = begin(port)
    assert port.refused("run.resume", threadId=thread, runId=run["runId"])["code"] == "conflict"
    other = port.ack("thread.create")["threadId"]
    assert port.refused("run.resume", threadId=other, runId=run["runId"])["code"] == "not_found"
    assert port.refused("run.get", runId=str(uuid.uuid4()))["code"] == "not_found"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"content": "x"},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "video", "text": "x"}]},
        {"content": [], "attachedContext": [{**PAGE, "trust": "yes"}]},
        {"content": [], "attachedContext": [{"kind": "page"}]},
        {"content": [], "attachmentIds": ["x"]},
        {"content": [], "more": 1},
    ],
)
def test_an_input_of_the_wrong_shape_admits_nothing(port: HostClient, wrong: dict) -> None:
    """`invalid_command`; neither message nor run."""
    thread = port.ack("thread.create")["threadId"]
    assert port.refused("turn.submit", threadId=thread, input=wrong)["code"] == "invalid_command"
    found = shown(port, thread)
    assert (found["nodes"], found["activeTurn"], found["thread"]["status"]) == ([], None, "idle")
