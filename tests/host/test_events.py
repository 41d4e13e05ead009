"""What a port hears: answers first, then events; the same of every host on the store, in the same order."""

import json
import time
import uuid
from typing import Any

from support.hostclient import Event, HostClient
from support.stores import Store, said, text

BROADCASTS = ("thread.created", "thread.updated", "thread.deleted", "store.changed")


def stream(port: HostClient, kinds: tuple[str, ...]) -> list[str]:
    """The events of these kinds, as texts that can be compared between ports."""
    return [json.dumps(event, sort_keys=True) for event in port.events if event["type"] in kinds]


def settled(port: HostClient, marker: str) -> None:
    """Waits until the port has heard everything up to a rename to `marker`."""
    port.event("thread.updated", where=lambda event: event["patch"].get("title") == marker)


def test_an_answer_precedes_the_events_that_it_causes(store: Store) -> None:
    """Only answers carry `submissionId`; broadcasts also reach the port that caused them, behind the answer."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    port.query("thread.subscribe", threadId=thread)
    answer = port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("x"))
    node = port.event("thread.node", threadId=thread)
    updated = port.event("thread.updated", threadId=thread)
    order = [port.events.index(event) for event in (answer, node, updated)]
    assert order == sorted(order)
    assert all("submissionId" not in event for event in port.events if event["type"] in (*BROADCASTS, "thread.node"))


def test_ops_of_a_port_are_answered_in_order_and_a_query_sees_what_came_before(store: Store) -> None:
    """Ops of one port on one thread are answered in order; a query sees all earlier commands of its port."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    sent: list[str] = []
    for number in range(12):
        sent.append(port.send("node.append", threadId=thread, nodeType="user_message", payload=text(str(number))))
        sent.append(port.send("thread.subscribe", threadId=thread))
    answers = [port.answer(submission) for submission in sent]
    assert [len(answer["data"]["nodes"]) for answer in answers[1::2]] == list(range(1, 13))
    order = [event["submissionId"] for event in port.events if event.get("submissionId") in sent]
    assert order == sent


def test_every_host_hears_every_change_in_the_same_order(store: Store) -> None:
    """Broadcasts, to every port of every host on the store, whichever process made the change (E43)."""
    one, two = store.open(), store.open()
    shared = one.ack("thread.create", title="shared")["threadId"]
    for port in (one, two):
        port.query("thread.subscribe", threadId=shared)
    for number in range(20):
        port = (one, two)[number % 2]
        port.send("node.append", threadId=shared, nodeType="user_message", payload=text(str(number)))
        port.send("thread.update", threadId=shared, patch={"tags": [str(number)]})
        port.send("settings.set", patch={"instructions.global": str(number)})
        port.send("thread.create", title=str(number))
    one.ask("ping")
    two.ask("ping")
    one.ack("thread.update", threadId=shared, patch={"title": "the end"})
    for port in (one, two):
        settled(port, "the end")
    ordered = ("thread.created", "store.changed", "thread.node")
    told = stream(one, kinds=ordered)
    assert len(told) == 1 + 20 * 3
    assert told[1:] == stream(two, kinds=ordered)[-60:]
    # Changes of one row that follow each other may come as one: the last word and every member are the same.
    for port in (one, two):
        rows = port.seen("thread.updated", threadId=shared)
        assert [row["revision"] for row in rows] == sorted({row["revision"] for row in rows})
        patch: dict[str, Any] = {}
        for row in rows:
            patch |= row["patch"]
        now = port.query("thread.subscribe", threadId=shared)["thread"]
        assert patch == {name: now[name] for name in patch}
        assert patch["revision"] == rows[-1]["revision"] == now["revision"]


def test_another_host_hears_within_half_a_second(store: Store) -> None:
    """Broadcasts within 500 ms, the other window updated in less than a second (E43)."""
    one, two = store.open(), store.open()
    slowest = 0.0
    for number in range(10):
        thread = one.ack("thread.create", title=str(number))["threadId"]
        begun = time.monotonic()
        two.event("thread.created", where=lambda event, own=thread: event["thread"]["id"] == own, timeout=2)
        slowest = max(slowest, time.monotonic() - begun)
    assert slowest < 0.5


def test_only_followers_hear_of_nodes(store: Store) -> None:
    """To subscribers: `thread.node`; subscriptions are per client, and end with `thread.unsubscribe`."""
    one, two = store.open(), store.open()
    thread = one.ack("thread.create")["threadId"]
    one.query("thread.subscribe", threadId=thread)
    one.query("thread.subscribe", threadId=thread, clientId="second panel")
    for count in (1, 2):
        two.ack("node.append", threadId=thread, nodeType="user_message", payload=text(str(count)))
        one.event("thread.node", threadId=thread)
        one.query("thread.unsubscribe", threadId=thread, **({"clientId": "second panel"} if count == 2 else {}))
    two.ack("node.append", threadId=thread, nodeType="user_message", payload=text("3"))
    two.ack("thread.update", threadId=thread, patch={"title": "third is in"})
    settled(one, "third is in")
    assert len(one.seen("thread.node")) == 2
    assert two.seen("thread.node") == []


def test_a_snapshot_and_the_events_after_it_are_the_whole(store: Store) -> None:
    """No event is missed and none told twice between a snapshot and what follows it, while others write."""
    one, two = store.open(), store.open()
    thread = one.ack("thread.create")["threadId"]
    sent = [
        two.send("node.append", threadId=thread, nodeType="user_message", payload=text(str(number)))
        for number in range(30)
    ]
    snapshot = one.query("thread.subscribe", threadId=thread)
    for submission in sent:
        assert two.answer(submission)["type"] == "command.ack"
    two.ack("thread.update", threadId=thread, patch={"title": "done"})
    settled(one, "done")
    known = [node["seq"] for node in snapshot["nodes"]]
    told = [event["node"]["seq"] for event in one.seen("thread.node", threadId=thread)]
    assert known + told == list(range(1, 31))


def test_a_client_that_comes_back_finds_what_it_missed(store: Store) -> None:
    """After a reconnect the snapshot has everything, equal for all ports."""
    one, two = store.open(), store.open()
    thread = one.ack("thread.create")["threadId"]
    one.query("thread.subscribe", threadId=thread)
    one.kill()
    for number in range(5):
        two.ack("node.append", threadId=thread, nodeType="assistant_message", payload=said(str(number)))
    two.ack("node.delete", threadId=thread, nodeId=two.query("thread.subscribe", threadId=thread)["nodes"][2]["id"])
    back = store.open(client_id=one.client_id, subscribe=thread)
    told = back.event("thread.snapshot")
    fresh = two.query("thread.subscribe", threadId=thread)
    assert {name: told[name] for name in fresh} == fresh
    assert [node["seq"] for node in told["nodes"]] == [1, 2, 4, 5]


def test_events_name_whole_rows(store: Store) -> None:
    """`thread.created {thread}` has what the list has; `thread.updated` the revision that the row then has."""
    one, two = store.open(), store.open()
    thread = one.ack("thread.create", title="t", tags=["a"])["threadId"]
    created = two.event("thread.created")
    assert created["thread"] == two.query("thread.list")["threads"][0]
    one.ack("thread.update", threadId=thread, patch={"pinned": True})
    updated = two.event("thread.updated")
    assert updated == {
        "type": "thread.updated",
        "threadId": thread,
        "revision": 2,
        "patch": {"pinned": True, "revision": 2},
    }


def test_visibility_and_subscriptions_are_seen_by_other_processes(store: Store) -> None:
    """*Watched* means: subscribed and visible; the runner and others read it beside the host's lock."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    port.query("thread.subscribe", threadId=thread)
    port.query("client.visibility", visible=False, clientId="hidden panel")
    (path,) = (store.state / "hosts").glob("*.json")
    told = json.loads(path.read_text())
    clients = {client["clientId"]: client for client in told["clients"]}
    assert clients[port.client_id] == {"clientId": port.client_id, "threads": [thread], "visible": True}
    assert clients["hidden panel"] == {"clientId": "hidden panel", "threads": [], "visible": False}
    assert told["pid"] == port.process.pid
    assert path.stat().st_mode & 0o777 == 0o600
    port.query("client.visibility", visible=False)
    assert json.loads(path.read_text())["clients"][-1]["visible"] in (True, False)
    port.query("thread.unsubscribe", threadId=thread)
    after = {client["clientId"]: client for client in json.loads(path.read_text())["clients"]}
    assert after[port.client_id] == {"clientId": port.client_id, "threads": [], "visible": False}


def test_a_port_that_is_loud_does_not_keep_another_waiting(store: Store) -> None:
    """No thread waits for another's work: two ports on one store each get their answers."""
    loud, quiet = store.open(), store.open()
    threads = [loud.ack("thread.create")["threadId"] for _ in range(8)]
    for number in range(400):
        loud.send("node.append", threadId=threads[number % 8], nodeType="user_message", payload=text("x" * 2_000))
    waits = []
    for _ in range(10):
        begun = time.monotonic()
        quiet.ack("thread.create", timeout=5)
        waits.append(time.monotonic() - begun)
    assert sorted(waits)[5] < 0.5
    loud.ask("ping", timeout=30)
    answered = [event for event in loud.events if event.get("submissionId")]
    assert not [event for event in answered if event.get("code") not in (None, "overloaded")]


def test_a_thread_made_elsewhere_is_there_for_everyone(store: Store) -> None:
    """E24, E43: two windows: the chosen branch is the thread's, seen by both."""
    one, two = store.open(), store.open()
    thread = one.ack("thread.create")["threadId"]
    root = one.ack("node.append", threadId=thread, nodeType="user_message", payload=text("q"))["nodeId"]
    a = two.ack("node.append", threadId=thread, nodeType="assistant_message", payload=said("a"))["nodeId"]
    b = one.ack("node.append", threadId=thread, parentId=root, nodeType="assistant_message", payload=said("b"))[
        "nodeId"
    ]
    leaf = _leaf(two, thread)
    assert leaf == b
    two.ack("thread.selectBranch", threadId=thread, nodeId=a)
    assert _leaf(one, thread) == _leaf(two, thread) == a
    told = one.event("thread.updated", threadId=thread, where=lambda event: event["patch"].get("leafId") == a)
    assert told["revision"] >= 1


def _leaf(port: HostClient, thread: str) -> Any:
    return port.query("thread.subscribe", threadId=thread)["thread"]["leafId"]


def test_ids_of_clients_are_not_confused(store: Store) -> None:
    """One port may serve several panels; each answer goes by its submission and repeats the op's own client."""
    port = store.open()
    sent = {str(number): port.send("ping", clientId=str(number)) for number in range(20)}
    for client, submission in sent.items():
        answer: Event = port.answer(submission)
        assert answer["clientId"] == client
    assert "clientId" not in port.ask("ping", submissionId=str(uuid.uuid4()))
