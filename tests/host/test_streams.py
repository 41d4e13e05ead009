"""An answer as ports hear it: the same stream for each, from the start or from the middle, to its end."""

import json
from typing import Any

import pytest

from support.hostclient import Event, HostClient
from support.stores import Store, text

PAGE = {
    "kind": "page",
    "title": "Lighthouses",
    "url": "https://lights.example/",
    "text": " ".join(
        f"The lighthouse number {number} was built of granite and shines every {number} seconds over the bay."
        for number in range(1, 40)
    ),
    "trust": "untrusted",
    "provenance": "page",
}
TURN = ("turn.start", "item.start", "item.delta", "item.complete", "token.usage", "turn.complete")


@pytest.fixture
def pair(running_store: Store) -> tuple[HostClient, HostClient, str]:
    """Two hosts that follow one thread, answered by the model that is always there."""
    one, two = running_store.open(), running_store.open()
    one.ack("settings.set", patch={"models.default": {"connectionId": "extract", "modelId": "extract"}})
    thread = one.ack("thread.create")["threadId"]
    for port in (one, two):
        port.query("thread.subscribe", threadId=thread)
    return one, two, thread


def ask(port: HostClient, thread: str, words: str = "Summarise this page") -> dict[str, Any]:
    return port.ack("turn.submit", threadId=thread, input={**text(words), "attachedContext": [PAGE]})


def turn_of(port: HostClient, turn: str) -> list[Event]:
    return [event for event in port.events if event["type"] in TURN and event.get("turnId") == turn]


def test_an_answer_is_told_in_the_order_of_the_contract(pair: tuple[HostClient, HostClient, str]) -> None:
    """turn.start, item.start, item.delta with rising seq, item.complete, turn.complete when everything is on disk."""
    one, _, thread = pair
    run = ask(one, thread)
    end = one.event("turn.complete", turnId=run["turnId"], timeout=40)
    assert end["stopReason"] == "end"
    events = turn_of(one, run["turnId"])
    kinds = [event["type"] for event in events]
    assert kinds[0] == "turn.start"
    assert kinds[-1] == "turn.complete"
    assert (events[0]["runId"], events[0]["threadId"]) == (run["runId"], thread)
    answer = next(event for event in events if event["type"] == "item.start" and event["kind"] == "assistant_message")
    deltas = [event for event in events if event["type"] == "item.delta" and event["itemId"] == answer["itemId"]]
    assert [delta["seq"] for delta in deltas] == sorted({delta["seq"] for delta in deltas})
    complete = next(
        event for event in events if event["type"] == "item.complete" and event["itemId"] == answer["itemId"]
    )
    assert events.index(answer) < events.index(deltas[0]) < events.index(deltas[-1]) < events.index(complete)
    shown = one.query("thread.subscribe", threadId=thread)
    node = shown["nodes"][-1]
    assert node["id"] == complete["nodeId"] == shown["thread"]["leafId"]
    assert node["payload"]["content"][0]["text"] == "".join(delta["delta"].get("text", "") for delta in deltas)
    assert node["payload"]["stopReason"] == "end"
    assert (shown["activeTurn"], shown["thread"]["status"]) == (None, "idle")  # finished while watched


def test_two_ports_hear_the_same_stream(pair: tuple[HostClient, HostClient, str]) -> None:
    """Every panel shows the same stream, whichever process it is of."""
    one, two, thread = pair
    run = ask(one, thread)
    for port in (one, two):
        port.event("turn.complete", turnId=run["turnId"], timeout=40)
    first, second = (
        [json.dumps(event, sort_keys=True) for event in turn_of(port, run["turnId"])] for port in (one, two)
    )
    assert first == second
    assert len(first) >= 5


def test_the_queue_is_answered_in_its_order(pair: tuple[HostClient, HostClient, str]) -> None:
    """What waits starts by itself; each user node is written when its run starts."""
    one, two, thread = pair
    runs = [ask(one, thread, f"Question {number}") for number in range(3)]
    assert [run.get("queued", False) for run in runs] == [False, True, True]
    for run in runs:
        one.event("turn.complete", turnId=run["turnId"], timeout=60)
    shown = two.query("thread.subscribe", threadId=thread)
    said = [
        (node["type"], node["payload"]["content"][0]["text"])
        for node in shown["nodes"]
        if node["type"] == "user_message"
    ]
    assert said == [("user_message", f"Question {number}") for number in range(3)]
    assert [node["type"] for node in shown["nodes"]] == ["user_message", "assistant_message"] * 3
    assert shown["queue"] == []


def test_an_answer_that_nobody_watches_is_done_and_unread(running_store: Store) -> None:
    """Thread status `done` with `unread`: finished while nobody looks; the browser may be gone altogether (E39)."""
    one = running_store.open()
    one.ack("settings.set", patch={"models.default": {"connectionId": "extract", "modelId": "extract"}})
    thread = one.ack("thread.create")["threadId"]
    ask(one, thread)
    done = one.event("thread.updated", where=lambda event: event["patch"].get("status") == "done", timeout=40)
    assert done["patch"]["unread"] is True
    (row,) = one.query("thread.list", status="done")["threads"]
    assert (row["id"], row["unread"]) == (thread, True)
    one.ack("thread.update", threadId=thread, patch={"unread": False})
    assert one.query("thread.list")["threads"][0]["unread"] is False


def test_a_run_keeps_what_it_was_started_under(pair: tuple[HostClient, HostClient, str]) -> None:
    """`run.get`: environment with digests, usage, who asked, and how it ended."""
    one, _, thread = pair
    run = ask(one, thread)
    one.event("turn.complete", turnId=run["turnId"], timeout=40)
    got = one.query("run.get", runId=run["runId"])["run"]
    assert (got["state"], got["stopReason"], got["clientId"]) == ("completed", "end", one.client_id)
    environment = got["environment"]
    assert (environment["connectionId"], environment["modelId"]) == ("extract", "extract")
    assert {"digest", "inputDigest", "systemPromptDigest", "toolCatalogDigest"} <= set(environment)
    assert got["finishedAt"] >= got["startedAt"] >= got["createdAt"]
