"""Forks into a thread of their own: the path copied under new ids, or nothing but where it came from."""

import base64
import hashlib
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import said, text


@pytest.fixture
def origin(port: HostClient) -> dict[str, Any]:
    """q1 ─ a1 ─ (x: deleted) ─ q2 ─ a2, and b2 beside a2."""
    thread = port.ack("thread.create", title="Origin", folderId="f", preset="p", tags=["t"])["threadId"]
    ids = {"thread": thread}

    def append(name: str, kind: str, payload: dict, **members: str) -> None:
        ids[name] = port.ack("node.append", threadId=thread, nodeType=kind, payload=payload, **members)["nodeId"]

    append("q1", "user_message", text("q1"))
    append("a1", "assistant_message", {**said("a1"), "usage": {"inputTokens": 5, "outputTokens": 7}})
    append("x", "user_message", text("x"))
    append("q2", "user_message", text("q2"))
    append("a2", "assistant_message", said("a2"))
    append("b2", "assistant_message", said("b2"), parentId=ids["q2"])
    port.ack("node.delete", threadId=thread, nodeId=ids["x"])
    return ids


def words(shown: dict) -> list[str]:
    return [node["payload"]["content"][0]["text"] for node in shown["nodes"]]


def test_a_fork_copies_the_path_to_the_node_under_new_ids(port: HostClient, origin: dict) -> None:
    """`copy: path` (default): root to the node, no tombstones, new ids; `parentThreadId` set; stats start at 0."""
    before = port.query("thread.subscribe", threadId=origin["thread"])
    copy = port.ack("thread.fork", threadId=origin["thread"], atNodeId=origin["a2"])["threadId"]
    shown = port.query("thread.subscribe", threadId=copy)
    assert words(shown) == ["q1", "a1", "q2", "a2"]
    assert not {node["id"] for node in shown["nodes"]} & set(origin.values())
    assert [node["seq"] for node in shown["nodes"]] == [1, 2, 3, 4]
    assert [node["parentId"] for node in shown["nodes"][1:]] == [node["id"] for node in shown["nodes"][:-1]]
    row = shown["thread"]
    assert (row["parentThreadId"], row["leafId"]) == (origin["thread"], shown["nodes"][-1]["id"])
    assert row["stats"] == {"turns": 0, "totalTokens": 0, "costUsd": 0}
    assert (row["folderId"], row["preset"], row["status"]) == ("f", "p", "idle")
    times = {node["id"]: node["ts"] for node in before["nodes"]}
    assert shown["nodes"][0]["ts"] == times[origin["q1"]]
    after = port.query("thread.subscribe", threadId=origin["thread"])
    assert after == before


def test_a_fork_in_the_middle_stops_there(port: HostClient, origin: dict) -> None:
    """Only what leads to the node; a node that is not on the path in view may be chosen as well."""
    first = port.ack("thread.fork", threadId=origin["thread"], atNodeId=origin["a1"])["threadId"]
    assert words(port.query("thread.subscribe", threadId=first)) == ["q1", "a1"]
    aside = port.ack("thread.fork", threadId=origin["thread"], atNodeId=origin["a2"], copy="path")["threadId"]
    assert words(port.query("thread.subscribe", threadId=aside)) == ["q1", "a1", "q2", "a2"]


def test_an_empty_fork_is_an_empty_thread_that_knows_its_origin(port: HostClient, origin: dict) -> None:
    """`copy: empty`."""
    copy = port.ack("thread.fork", threadId=origin["thread"], atNodeId=origin["a2"], copy="empty")["threadId"]
    shown = port.query("thread.subscribe", threadId=copy)
    assert (shown["nodes"], shown["thread"]["parentThreadId"]) == ([], origin["thread"])
    assert shown["thread"]["leafId"] is None


def test_what_happens_in_one_is_not_seen_in_the_other(port: HostClient, origin: dict) -> None:
    """After the fork both go on by themselves."""
    copy = port.ack("thread.fork", threadId=origin["thread"], atNodeId=origin["a2"])["threadId"]
    node = port.query("thread.subscribe", threadId=copy)["nodes"][0]["id"]
    port.ack("node.delete", threadId=copy, nodeId=node)
    port.ack("node.append", threadId=copy, nodeType="user_message", payload=text("q3"))
    assert words(port.query("thread.subscribe", threadId=copy)) == ["a1", "q2", "a2", "q3"]
    assert words(port.query("thread.subscribe", threadId=origin["thread"])) == ["q1", "a1", "q2", "b2"]


def test_others_hear_of_a_fork(port: HostClient, origin: dict) -> None:
    """Broadcast `thread.created {thread}` with the copy as it is in the list."""
    copy = port.ack("thread.fork", threadId=origin["thread"], atNodeId=origin["a2"])["threadId"]
    told = port.event("thread.created", where=lambda event: event["thread"]["id"] == copy)
    assert told["thread"]["parentThreadId"] == origin["thread"]
    assert told["thread"]["title"] == "Origin"


def test_a_node_of_another_thread_is_not_found(port: HostClient, origin: dict) -> None:
    """The node has to be one of the thread."""
    other = port.ack("thread.create")["threadId"]
    assert port.refused("thread.fork", threadId=other, atNodeId=origin["q1"])["code"] == "not_found"
    refusal = port.refused("thread.fork", threadId=origin["thread"], atNodeId=origin["q1"], copy="half")
    assert refusal["code"] == "invalid_command"


def test_a_fork_has_attachments_of_its_own_on_the_same_bytes(port: HostClient) -> None:
    """E52, E51: fork, purge the original: the copy's file still opens; the bytes are stored once."""
    thread = port.ack("thread.create")["threadId"]
    data = b"the bytes of a file" * 100
    begun = port.ack(
        "attachment.begin", threadId=thread, kind="file", mime="text/plain", size=len(data), provenance="user",
        trust="trusted",
    )  # fmt: skip
    attachment = begun["attachmentId"]
    port.ack("attachment.chunk", attachmentId=attachment, index=0, data=base64.b64encode(data).decode())
    assert port.ack("attachment.commit", attachmentId=attachment)["sha256"] == hashlib.sha256(data).hexdigest()
    blobs = port.query("storage.status")["blobs"]
    payload = {**text("see"), "attachmentIds": [attachment]}
    node = port.ack("node.append", threadId=thread, nodeType="user_message", payload=payload)["nodeId"]
    copy = port.ack("thread.fork", threadId=thread, atNodeId=node)["threadId"]
    (own,) = port.query("thread.subscribe", threadId=copy)["nodes"][0]["payload"]["attachmentIds"]
    assert own != attachment
    assert port.query("storage.status")["blobs"] == blobs
    port.ack("thread.delete", threadId=thread, purge=True)
    read = port.query("attachment.read", attachmentId=own, offset=0, length=len(data))
    assert base64.b64decode(read["data"]) == data
    assert port.refused("attachment.read", attachmentId=attachment, offset=0, length=1)["code"] == "not_found"
