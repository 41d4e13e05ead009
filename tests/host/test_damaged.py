"""E20, A6: whatever the disk did to a thread, it opens at the newest path that is whole, in a second, with a notice."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import apsw
import pytest

from support.damage import behind_its_back
from support.hostclient import Event, HostClient
from support.stores import Store, said, text

WHERE = "thread = (SELECT k FROM threads WHERE id = ?)"
Damage = Callable[[apsw.Connection, str, list[str]], None]


def _fill(host: HostClient, count: int = 12) -> tuple[str, list[str]]:
    thread = host.ack("thread.create", title="A talk")["threadId"]
    nodes = [
        host.ack(
            "node.append",
            threadId=thread,
            nodeType="user_message" if number % 2 == 0 else "assistant_message",
            payload=text(f"Message {number}") if number % 2 == 0 else said(f"Message {number}"),
        )["nodeId"]
        for number in range(count)
    ]
    return thread, nodes


def _damaged(store: Store, damage: Damage) -> tuple[HostClient, str, list[str], str]:
    """A store of two threads, one of them damaged while nobody looked, and a host that has just opened it."""
    first = store.open()
    other, _ = _fill(first, 4)
    thread, nodes = _fill(first)
    first.close()
    store.hosts.remove(first)
    with behind_its_back(store.state) as db:
        damage(db, thread, nodes)
    return store.open(), thread, nodes, other


def _shown(host: HostClient, thread: str) -> dict[str, Any]:
    """The snapshot, checked as one that a panel can draw."""
    started = time.monotonic()
    shown: dict[str, Any] = host.query("thread.subscribe", threadId=thread)
    assert time.monotonic() - started < 1
    nodes = shown["nodes"]
    assert nodes[0]["parentId"] is None or shown["before"] is not None
    for above, below in pairwise(nodes):
        assert below["effectiveParentId"] == above["id"]
    assert nodes[-1]["id"] == shown["thread"]["leafId"]
    return shown


def _notices(nodes: list[Event]) -> list[str]:
    return [node["payload"]["text"] for node in nodes if node["type"] == "system_notice"]


def _texts(nodes: list[Event]) -> list[str]:
    return [node["payload"]["content"][0]["text"] for node in nodes if node["type"] != "system_notice"]


def leaf_missing(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
    db.execute("UPDATE threads SET leaf = (k << 32) + 9999 WHERE id = ?", (thread,))


def leaf_null(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
    db.execute("UPDATE threads SET leaf = NULL WHERE id = ?", (thread,))


def leaf_elsewhere(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
    db.execute("UPDATE threads SET leaf = (SELECT leaf FROM threads WHERE id <> ?1 LIMIT 1) WHERE id = ?1", (thread,))


@pytest.mark.parametrize("damage", [leaf_missing, leaf_null, leaf_elsewhere])
def test_a_cursor_that_points_nowhere_goes_to_the_newest_message(store: Store, damage: Damage) -> None:
    host, thread, nodes, other = _damaged(store, damage)
    shown = _shown(host, thread)
    assert [node["id"] for node in shown["nodes"][:12]] == nodes
    assert len(_notices(shown["nodes"])) == 1
    assert "damaged" in _notices(shown["nodes"])[0]
    _goes_on(host, thread, other)


@pytest.mark.parametrize("damage", [leaf_missing, leaf_null, leaf_elsewhere])
@pytest.mark.parametrize("way", ["node.append", "turn.submit"])
def test_a_write_mends_a_cursor_that_points_nowhere(store: Store, damage: Damage, way: str) -> None:
    """Nobody has read the conversation yet: what is said goes behind its newest message, and a notice says why."""
    host, thread, nodes, other = _damaged(store, damage)
    if way == "node.append":
        host.ack(way, threadId=thread, nodeType="user_message", payload=text("And on."))
        host.ack(way, threadId=thread, nodeType="user_message", payload=text("And on again."))
    else:
        host.ack(way, threadId=thread, input=text("And on."))
    shown = host.query("thread.subscribe", threadId=thread)["nodes"]
    assert [node["id"] for node in shown[:12]] == nodes
    assert "damaged" in shown[12]["payload"]["text"]
    assert _texts(shown)[12:] == (["And on.", "And on again."] if way == "node.append" else ["And on."])
    assert len(_notices(shown)) == 1
    assert not _notices(_shown(host, other)["nodes"])


def test_a_cursor_on_a_cycle_goes_to_the_newest_whole_branch(store: Store) -> None:
    def cycle(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
        db.execute("UPDATE nodes SET parent = (SELECT leaf FROM threads WHERE id = ?) WHERE id = ?", (thread, nodes[6]))

    host, thread, nodes, other = _damaged(store, cycle)
    shown = _shown(host, thread)
    assert [node["id"] for node in shown["nodes"][:-1]] == nodes[:6]
    assert len(_notices(shown["nodes"])) == 1
    _goes_on(host, thread, other)


def test_a_parent_of_another_thread_ends_no_walk(store: Store) -> None:
    def stray(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
        db.execute(
            "UPDATE nodes SET parent = (SELECT leaf FROM threads WHERE id <> ?) WHERE id = ?", (thread, nodes[8])
        )

    host, thread, nodes, other = _damaged(store, stray)
    shown = _shown(host, thread)
    assert [node["id"] for node in shown["nodes"][:-1]] == nodes[:8]
    _goes_on(host, thread, other)


def test_a_message_that_is_gone_leaves_a_note_and_hides_nothing_after_it(store: Store) -> None:
    def lost(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
        db.execute("DELETE FROM nodes WHERE id IN (?, ?)", (nodes[4], nodes[8]))

    host, thread, nodes, other = _damaged(store, lost)
    shown = _shown(host, thread)
    assert _texts(shown["nodes"]) == [f"Message {number}" for number in range(12) if number not in (4, 8)]
    ids = [node["id"] for node in shown["nodes"]]
    assert ids[4] == nodes[4]  # a note with the id of what is gone
    notices = _notices(shown["nodes"])
    assert len(notices) == 3
    assert "number 5" in notices[0]
    assert "number 9" in notices[1]
    assert "message 9 is lost" in notices[2]
    assert "message 5 is lost" in notices[2]
    _goes_on(host, thread, other)


@pytest.mark.parametrize("payload", [b"{", b"[]", b'{"content":[{"type":"text","text":"\xff\xfe"}]}', b""])
def test_a_payload_that_cannot_be_read_is_named_in_its_place_and_kept(store: Store, payload: bytes) -> None:
    def spoiled(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
        db.execute("UPDATE nodes SET payload = CAST(? AS TEXT) WHERE id = ?", (payload, nodes[5]))

    host, thread, nodes, other = _damaged(store, spoiled)
    shown = _shown(host, thread)
    assert [node["id"] for node in shown["nodes"]] == nodes
    assert "number 6" in _notices(shown["nodes"])[0]
    host.ack("thread.fork", threadId=thread, atNodeId=nodes[-1])
    _goes_on(host, thread, other)
    host.close()
    store.hosts.remove(host)
    with behind_its_back(store.state) as db:
        kept = db.execute("SELECT CAST(payload AS BLOB) FROM nodes WHERE id = ?", (nodes[5],)).fetchone()
    assert kept == (payload,)


def test_a_row_of_the_list_that_is_no_text_hides_no_other(store: Store) -> None:
    def title(db: apsw.Connection, thread: str, nodes: list[str]) -> None:
        db.execute("UPDATE threads SET title = CAST(? AS TEXT), tags = '{' WHERE id = ?", (b"Pl\xffan", thread))

    host, thread, _, other = _damaged(store, title)
    listed = {entry["id"]: entry for entry in host.query("thread.list")["threads"]}
    assert set(listed) == {thread, other}
    assert listed[thread]["title"] == "Pl\ufffdan"
    assert listed[thread]["tags"] == []
    assert _shown(host, thread)["thread"]["title"] == "Pl\ufffdan"


def test_a_break_above_the_window_is_mended_when_it_is_paged_to(store: Store) -> None:
    first = store.open()
    thread, nodes = _fill(first, 240)
    first.close()
    store.hosts.remove(first)
    with behind_its_back(store.state) as db:
        db.execute("DELETE FROM nodes WHERE id = ?", (nodes[10],))
    host = store.open()
    shown = _shown(host, thread)
    assert not _notices(shown["nodes"])
    page = host.query("thread.page", threadId=thread, beforeNodeId=shown["before"])
    assert page["before"] is None
    assert len(page["nodes"]) == 40
    assert "number 11" in _notices(page["nodes"])[0]
    later = host.event("thread.node", threadId=thread, where=lambda event: event["node"]["type"] == "system_notice")
    assert later["node"]["effectiveParentId"] in (nodes[-1], nodes[9])


def _goes_on(host: HostClient, thread: str, other: str) -> None:
    """The damaged thread takes a message, opens again without another notice; the others are as they were."""
    before = _shown(host, thread)
    assert _shown(host, thread)["nodes"] == before["nodes"]
    host.ack("node.append", threadId=thread, nodeType="user_message", payload=text("And on."))
    assert _texts(_shown(host, thread)["nodes"])[-1] == "And on."
    assert not _notices(_shown(host, other)["nodes"])
    assert {entry["id"] for entry in host.query("thread.list")["threads"]} >= {thread, other}


def test_what_lies_about_in_the_folder_of_hosts_is_in_nobodys_way(store: Store) -> None:
    """Files and folders that no host wrote keep no host from opening the store."""
    folder = store.state / "hosts"
    for name in ("a", "b.json", "c/d"):
        (folder / name).mkdir(parents=True)
    (folder / "e.json").write_text('{"pid":"x"}')
    host = store.open()
    host.ack("thread.create")
    assert not host.seen("error")
