"""A whole turn through real processes: what every port hears, in which order, and what is kept."""

import time
from typing import Any

import pytest

from support.hostclient import HostClient
from support.runners import lock_is_free, log_of, shown, until
from support.stores import Store, text

PAGE = {
    "kind": "page",
    "title": "Bees",
    "url": "https://bees.example/",
    "text": "Bees live in hives. Bees make honey. A queen lays the eggs. Wasps build nests of paper.",
    "trust": "untrusted",
    "provenance": "page",
}
EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}
ASKED = {**text("Summarise this page"), "attachedContext": [PAGE]}


def of_turn(events: list[dict[str, Any]], thread: str, turn: str) -> list[dict[str, Any]]:
    """The events that tell a turn, as a panel puts them on the screen."""
    kinds = ("turn.start", "item.start", "item.delta", "item.complete", "token.usage", "turn.complete")
    return [e for e in events if e["type"] in kinds and e["threadId"] == thread and e["turnId"] == turn]


def followed(host: HostClient) -> str:
    """A new thread that this port follows."""
    thread: str = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    return thread


def test_a_turn_is_told_in_the_order_of_the_contract(running_store: Store) -> None:
    """Acknowledged, started, shown piece by piece, ended: each event once, and the end when all is on disk."""
    host = running_store.open()
    thread = followed(host)
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    end = host.event("turn.complete")
    whose = {"threadId": thread, "turnId": ack["turnId"], "runId": ack["runId"]}
    assert end == {"type": "turn.complete", **whose, "stopReason": "end"}

    told = of_turn(host.events, thread, ack["turnId"])
    kinds = [event["type"] for event in told]
    assert kinds[:2] == ["turn.start", "item.start"]
    assert set(kinds[2:-3]) == {"item.delta"}
    assert kinds[-3:] == ["token.usage", "item.complete", "turn.complete"]
    assert told[0] == {"type": "turn.start", **whose, "turnKind": "turn", "steerable": True}
    item = told[1]["itemId"]
    assert told[1]["kind"] == "assistant_message"
    assert {event["itemId"] for event in told if "itemId" in event} == {item}
    numbers = [event["seq"] for event in told if event["type"] == "item.delta"]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    snapshot = host.query("thread.subscribe", threadId=thread)
    written = "".join(event["delta"]["text"] for event in told if event["type"] == "item.delta")
    assert shown(snapshot) == [("user", "Summarise this page"), ("assistant", written)]
    assert "Wasps build nests of paper." in written
    assert snapshot["activeTurn"] is None
    assert snapshot["recoverable"] == []
    assert snapshot["nodes"][0]["id"] == ack["userNodeId"]
    answer = snapshot["nodes"][1]
    assert answer["id"] == next(e for e in told if e["type"] == "item.complete")["nodeId"]
    assert answer["payload"]["stopReason"] == "end"
    assert (answer["payload"]["connectionId"], answer["payload"]["model"]) == ("extract", "extract")
    assert snapshot["thread"]["leafId"] == answer["id"]
    assert snapshot["thread"]["title"] == "Summarise this page"
    assert snapshot["thread"]["stats"] == {"turns": 1, "totalTokens": 0, "costUsd": 0}

    # Nodes come in the order of their commits, an answer's after all of its pieces.
    nodes = [e["node"]["type"] for e in host.seen("thread.node", threadId=thread)]
    assert nodes == ["user_message", "turn_context", "assistant_message"]
    places = {e["type"]: i for i, e in enumerate(host.events) if e.get("threadId") == thread}
    last_node = max(i for i, e in enumerate(host.events) if e["type"] == "thread.node")
    assert places["item.delta"] < last_node < places["item.complete"] < places["turn.complete"]


def test_the_turn_context_is_a_child_of_its_user_node(running_store: Store) -> None:
    """It is hidden: the answer's effective parent is the message that it answers."""
    host = running_store.open()
    thread = followed(host)
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    host.event("turn.complete")
    by_type = {e["node"]["type"]: e["node"] for e in host.seen("thread.node")}
    assert by_type["turn_context"]["parentId"] == ack["userNodeId"]
    assert by_type["turn_context"]["payload"] == {
        "turnId": ack["turnId"], "model": "extract", "permissionPolicy": "untrusted", "activeSkills": [],
    }  # fmt: skip
    assert by_type["assistant_message"]["parentId"] == by_type["turn_context"]["id"]
    assert by_type["assistant_message"]["effectiveParentId"] == ack["userNodeId"]


def test_the_run_keeps_the_environment_it_was_started_under(running_store: Store) -> None:
    host = running_store.open()
    thread = followed(host)
    tab = {"windowId": 1, "tabId": 2, "url": "https://bees.example/", "title": "Bees"}
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT, browserContext=tab)
    host.event("turn.complete")
    run = host.query("run.get", runId=ack["runId"])["run"]
    assert run["state"] == "completed"
    environment = run["environment"]
    assert environment["snapshotVersion"] == 1
    assert environment["browserContext"] == tab
    assert environment["providerBinding"]["kind"] == "extract"
    assert environment["modelId"] == "extract"


def test_two_ports_hear_the_same_turns_in_the_same_order(running_store: Store) -> None:
    """Whichever host took the command: three turns, the same stream on both, event for event."""
    one, two = running_store.open(), running_store.open()
    thread = followed(one)
    two.query("thread.subscribe", threadId=thread)
    turns = []
    for host in (one, two, one):
        turns.append(host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)["turnId"])
        for each in (one, two):
            each.event("turn.complete", turnId=turns[-1])
    for turn in turns:
        assert of_turn(one.events, thread, turn) == of_turn(two.events, thread, turn)
    kept = ("thread.node", "turn.start", "item.start", "token.usage", "item.complete", "turn.complete")
    heard = [[e for e in host.events if e["type"] in kept] for host in (one, two)]
    assert heard[0] == heard[1]


@pytest.mark.parametrize("looks", [True, False], ids=["watched", "unwatched"])
def test_an_answer_that_nobody_saw_is_unread(running_store: Store, looks: bool) -> None:
    """`idle` after a turn that was watched, `done` with `unread` after one that ended while nobody looked."""
    host = running_store.open()
    thread = followed(host)
    host.query("client.visibility", visible=looks)
    host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    host.event("turn.complete")
    meta = host.query("thread.subscribe", threadId=thread)["thread"]
    assert (meta["status"], meta["unread"]) == (("idle", False) if looks else ("done", True))


def test_an_edit_and_a_new_answer_grow_siblings(running_store: Store) -> None:
    host = running_store.open()
    thread = followed(host)
    first = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    host.event("turn.complete", runId=first["runId"])
    edited = host.ack(
        "turn.fork", threadId=thread, siblingOfNodeId=first["userNodeId"], input=text("Edited"), overrides=EXTRACT
    )
    host.event("turn.complete", runId=edited["runId"])
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert shown(snapshot)[0] == ("user", "Edited")
    assert snapshot["siblings"][snapshot["nodes"][0]["id"]] == {
        "index": 1, "count": 2, "ids": [first["userNodeId"], snapshot["nodes"][0]["id"]],
    }  # fmt: skip
    answer = snapshot["nodes"][1]["id"]
    again = host.ack("turn.fork", threadId=thread, siblingOfNodeId=answer, overrides=EXTRACT)
    host.event("turn.complete", runId=again["runId"])
    start = next(e for e in host.events if e["type"] == "turn.start" and e["runId"] == again["runId"])
    assert start["turnKind"] == "regenerate"
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert snapshot["siblings"][snapshot["nodes"][1]["id"]]["count"] == 2
    assert [node["type"] for node in snapshot["nodes"]] == ["user_message", "assistant_message"]


def test_a_connection_that_is_switched_off_fails_the_turn_readably(running_store: Store) -> None:
    """The message is kept, the turn ends with an error that says what to do, and the next turn works."""
    host = running_store.open()
    thread = followed(host)
    host.ack("connection.save", connection={"id": "extract", "name": "Extract", "kind": "extract", "enabled": False})
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    end = host.event("turn.complete", runId=ack["runId"])
    assert end["stopReason"] == "error"
    assert end["error"]["code"] == "conflict"
    assert "switched off" in end["error"]["message"]
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert shown(snapshot) == [("user", "Summarise this page")]
    assert snapshot["thread"]["status"] == "failed"
    host.ack("connection.save", connection={"id": "extract", "name": "Extract", "kind": "extract", "enabled": True})
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    assert host.query("thread.subscribe", threadId=thread)["thread"]["status"] == "idle"


def test_the_live_file_goes_ten_seconds_after_the_last_commit(running_store: Store) -> None:
    """Whoever still reads it has that long; afterwards nothing of the stream is left beside the store."""
    host = running_store.open()
    thread = followed(host)
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides=EXTRACT)
    host.event("turn.complete")
    live = running_store.state / "live"
    assert [path.name for path in live.iterdir()] == [f"{ack['runId']}.1"]
    assert oct((live / f"{ack['runId']}.1").stat().st_mode & 0o777) == "0o600"
    until(lambda: not list(live.iterdir()), "removal of the live file", timeout=15)
    assert not lock_is_free(running_store.state), log_of(running_store.state)


@pytest.mark.model
def test_the_local_model_answers_in_the_same_way(running_store: Store) -> None:
    """Its words come from the weights: a summary that was never written before, told like any other answer."""
    host = running_store.open()
    thread = followed(host)
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides={"params": {"maxTokens": 24}})
    end = host.event("turn.complete", timeout=120)
    assert end["stopReason"] in ("end", "max_tokens")
    told = of_turn(host.events, thread, ack["turnId"])
    written = "".join(e["delta"].get("text", "") for e in told if e["type"] == "item.delta")
    assert shown(host.query("thread.subscribe", threadId=thread))[1] == ("assistant", written)
    usage = next(e for e in told if e["type"] == "token.usage")["usage"]
    assert 0 < usage["outputTokens"] <= 24
    assert usage["inputTokens"] > 50
    assert host.query("thread.subscribe", threadId=thread)["thread"]["stats"]["totalTokens"] == (
        usage["inputTokens"] + usage["outputTokens"]
    )


@pytest.mark.model
def test_the_local_model_is_stopped_at_once(running_store: Store) -> None:
    """While it still loads or reads, and while it writes; the next turn is answered by the same worker."""
    host = running_store.open()
    thread = followed(host)
    for moment in ("toolProgress", "text"):
        ack = host.ack("turn.submit", threadId=thread, input=ASKED)
        host.event("item.delta", where=lambda e, moment=moment: moment in e["delta"], turnId=ack["turnId"], timeout=120)
        begun = time.monotonic()
        host.ack("turn.interrupt", threadId=thread)
        end = host.event("turn.complete", runId=ack["runId"])
        assert time.monotonic() - begun < 0.2
        assert end["stopReason"] == "interrupted"
    ack = host.ack("turn.submit", threadId=thread, input=ASKED, overrides={"params": {"maxTokens": 4}})
    assert host.event("turn.complete", runId=ack["runId"], timeout=120)["stopReason"] in ("end", "max_tokens")
