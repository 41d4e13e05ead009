"""The trash: out of sight, back again, or gone for good, each in one transaction with its receipt."""

import uuid
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import Store, text


def talk(port: HostClient, *words: str, **members: Any) -> tuple[str, list[str]]:
    """A thread with these messages, and their ids."""
    thread = port.ack("thread.create", **members)["threadId"]
    nodes = [
        port.ack("node.append", threadId=thread, nodeType="user_message", payload=text(word))["nodeId"]
        for word in words
    ]
    return thread, nodes


def ids(port: HostClient, **filters: Any) -> list[str]:
    return [thread["id"] for thread in port.query("thread.list", limit=500, **filters)["threads"]]


def test_a_thread_goes_into_the_trash_and_comes_back_whole(port: HostClient) -> None:
    """`thread.delete` → trash; `thread.restore` brings back everything, at its place in the list."""
    thread, nodes = talk(port, "one", "two", title="Kept")
    before = port.query("thread.subscribe", threadId=thread)
    port.ack("thread.delete", threadId=thread)
    assert port.event("thread.deleted", threadId=thread)["purged"] is False
    assert thread not in ids(port)
    assert thread in ids(port, trash=True)
    answer = port.ack("thread.restore", threadId=thread)
    created = port.event("thread.created", where=lambda event: event["thread"]["id"] == thread, timeout=5)
    assert created
    after = port.query("thread.subscribe", threadId=thread)
    assert [node["id"] for node in after["nodes"]] == nodes
    assert after["nodes"] == before["nodes"]
    assert after["thread"]["updatedAt"] == before["thread"]["updatedAt"]
    assert "deletedAt" not in after["thread"]
    assert after["thread"]["revision"] > before["thread"]["revision"]
    assert answer["threadId"] == thread
    assert thread in ids(port)


@pytest.mark.parametrize(
    ("op", "members"),
    [
        ("thread.update", {"patch": {"title": "x"}}),
        ("thread.subscribe", {}),
        ("thread.page", {"beforeNodeId": "node", "limit": 5}),
        ("thread.fork", {"atNodeId": "node"}),
        ("thread.selectBranch", {"nodeId": "node"}),
        ("branch.list", {}),
        ("branch.delete", {"leafId": "node"}),
        ("node.append", {"nodeType": "user_message", "payload": text("x")}),
        ("node.delete", {"nodeId": "node"}),
        ("node.restore", {"nodeId": "node"}),
        ("turn.submit", {"input": text("x")}),
        ("turn.enqueue", {"input": text("x")}),
        ("turn.fork", {"siblingOfNodeId": "node"}),
        ("turn.interrupt", {}),
    ],
)
def test_what_lies_in_the_trash_is_not_found(port: HostClient, op: str, members: dict) -> None:
    """All ops but restore, delete and export answer `not_found` for a thread in the trash."""
    thread, (node,) = talk(port, "one")
    port.ack("thread.delete", threadId=thread)
    named = {member: node if value == "node" else value for member, value in members.items()}
    assert port.refused(op, threadId=thread, **named)["code"] == "not_found"
    port.ack("thread.restore", threadId=thread)
    assert len(port.query("thread.subscribe", threadId=thread)["nodes"]) == 1


def test_deleting_and_restoring_are_idempotent(port: HostClient) -> None:
    """Two windows that delete the same thread: the second is no fault, and nobody is told twice."""
    thread, _ = talk(port, "one")
    port.ack("thread.delete", threadId=thread)
    deleted = port.query("thread.list", trash=True, limit=500)["threads"]
    port.ack("thread.delete", threadId=thread)
    assert port.query("thread.list", trash=True, limit=500)["threads"] == deleted
    assert len(port.seen("thread.deleted", threadId=thread)) == 1
    port.ack("thread.restore", threadId=thread)
    port.ack("thread.restore", threadId=thread)
    assert thread in ids(port)


def test_a_purge_takes_everything_and_leaves_its_receipt(store: Store) -> None:
    """`purge`: rows at once, physically, out of the list, the trash and the nodes; the receipt is kept."""
    port = store.open()
    thread, nodes = talk(port, "one", "two")
    kept, _ = talk(port, "kept")
    answer = port.ack("thread.delete", threadId=thread, purge=True)
    assert port.event("thread.deleted", threadId=thread)["purged"] is True
    assert ids(port) == [kept]
    assert ids(port, trash=True) == []
    assert port.refused("thread.restore", threadId=thread)["code"] == "not_found"
    assert port.refused("thread.delete", threadId=thread, purge=True)["code"] == "not_found"
    of = {"clientId": port.client_id, "submissionId": answer["submissionId"]}
    assert port.query("receipt.get", of=of) == {"status": "acknowledged", "response": answer}
    again = port.ack("thread.delete", threadId=thread, purge=True, submissionId=answer["submissionId"])
    assert again == answer
    for node in nodes:
        refusal = port.refused("node.append", threadId=kept, parentId=node, nodeType="user_message", payload=text("x"))
        assert refusal["code"] == "not_found"


def test_an_id_that_was_purged_may_be_used_again_and_inherits_nothing(store: Store) -> None:
    """Thread integers are never used again: nothing of the old thread shines through."""
    port = store.open()
    thread = str(uuid.uuid4())
    for title in ("first", "second"):
        port.ack("thread.create", threadId=thread, title=title)
        shown = port.query("thread.subscribe", threadId=thread)
        assert (shown["thread"]["title"], shown["nodes"]) == (title, [])
        port.ack("node.append", threadId=thread, nodeType="user_message", payload=text(title))
        port.ack("thread.delete", threadId=thread, purge=True)


def test_a_purge_out_of_the_trash(port: HostClient) -> None:
    """What lies in the trash can be purged."""
    thread, _ = talk(port, "one")
    port.ack("thread.delete", threadId=thread)
    port.ack("thread.delete", threadId=thread, purge=True)
    assert thread not in ids(port, trash=True)


def test_a_delete_ends_the_threads_runs(store: Store) -> None:
    """One transaction that also ends its runs; what waited does not come back with the thread."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    run = port.ack("turn.submit", threadId=thread, input=text("q"))["runId"]
    waiting = port.ack("turn.enqueue", threadId=thread, input=text("later"))["runId"]
    port.ack("thread.delete", threadId=thread)
    for ended in (run, waiting):
        assert port.query("run.get", runId=ended)["run"]["state"] == "interrupted"
    port.ack("thread.restore", threadId=thread)
    shown = port.query("thread.subscribe", threadId=thread)
    assert (shown["thread"]["status"], shown["activeTurn"], shown["queue"]) == ("idle", None, [])
    assert [node["payload"] for node in shown["nodes"]] == [text("q")]
    port.ack("turn.submit", threadId=thread, input=text("goes on"))


def test_a_delete_does_not_touch_the_threads_that_came_from_it(port: HostClient) -> None:
    """E26, E52: forks live on when their origin is purged."""
    thread, nodes = talk(port, "one", "two")
    copy = port.ack("thread.fork", threadId=thread, atNodeId=nodes[1])["threadId"]
    port.ack("thread.delete", threadId=thread, purge=True)
    shown = port.query("thread.subscribe", threadId=copy)
    assert [node["payload"] for node in shown["nodes"]] == [text("one"), text("two")]
    assert shown["thread"]["parentThreadId"] == thread
