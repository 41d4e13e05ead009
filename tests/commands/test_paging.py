"""A long thread, read a window at a time from its newest end."""

from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import Store, said, temporary_store, text

LENGTH = 2_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One thread of 2,000 messages, of which every fiftieth is a tombstone, with a sibling at the 1,000th."""
    with temporary_store(tmp_path_factory.mktemp("long") / "state") as store:
        port = store.open()
        thread = port.ack("thread.create", title="Long")["threadId"]
        nodes: list[str] = []
        for start in range(0, LENGTH, 25):
            sent = [
                port.send(
                    "node.append",
                    threadId=thread,
                    nodeType="assistant_message" if number % 2 else "user_message",
                    payload=said(str(number)) if number % 2 else text(str(number)),
                )
                for number in range(start, start + 25)
            ]
            nodes += [port.answer(submission)["nodeId"] for submission in sent]
        leaf = port.ack(
            "node.append", threadId=thread, parentId=nodes[999], nodeType="user_message", payload=text("aside")
        )
        port.ack("thread.selectBranch", threadId=thread, nodeId=nodes[1_000])
        for node in nodes[::50]:
            port.ack("node.delete", threadId=thread, nodeId=node)
        yield store, port, thread, nodes, leaf["nodeId"]


def test_a_snapshot_is_the_newest_window(long: Any) -> None:
    """E47, E49: `nodes` is the newest part of the active path, root side first, at most 200, without hidden ones."""
    _, port, thread, nodes, _ = long
    shown = port.query("thread.subscribe", threadId=thread)
    assert len(shown["nodes"]) == 200
    visible = [node for index, node in enumerate(nodes) if index % 50]
    assert [node["id"] for node in shown["nodes"]] == visible[-200:]
    assert shown["before"] == shown["nodes"][0]["id"]
    assert set(shown["siblings"]) == {node["id"] for node in shown["nodes"]}


@pytest.mark.parametrize("limit", [1, 63, 200])
def test_paging_back_shows_each_message_once(long: Any, limit: int) -> None:
    """`thread.page`: strictly above `beforeNodeId`; `before` is null at the root; windows join without a seam."""
    _, port, thread, nodes, _ = long
    shown = port.query("thread.subscribe", threadId=thread)
    found = [node["id"] for node in shown["nodes"]]
    parents = {node["id"]: node["effectiveParentId"] for node in shown["nodes"]}
    before = shown["before"]
    pages = 0
    while before is not None and (limit > 1 or pages < 50):
        page = port.query("thread.page", threadId=thread, beforeNodeId=before, limit=limit)
        assert set(page) == {"nodes", "before", "siblings"}
        assert 0 < len(page["nodes"]) <= limit
        found = [node["id"] for node in page["nodes"]] + found
        parents |= {node["id"]: node["effectiveParentId"] for node in page["nodes"]}
        before = page["before"]
        pages += 1
    visible = [node for index, node in enumerate(nodes) if index % 50]
    assert found == visible[-len(found) :]
    if limit > 1:
        assert len(found) == len(visible)
    for child, above in zip(found[1:], found, strict=False):
        assert parents[child] == above


def test_siblings_far_up_are_told_with_their_page(long: Any) -> None:
    """A fork in the middle is shown where its page is read."""
    _, port, thread, nodes, aside = long
    page = port.query("thread.page", threadId=thread, beforeNodeId=nodes[1_002], limit=5)
    # The 1,000th is a tombstone: its child and `aside` hang from the 999th.
    entry = page["siblings"][nodes[1_001]]
    assert entry["ids"] == [nodes[1_001], aside]
    assert (entry["index"], entry["count"]) == (0, 2)


def test_the_root_has_nothing_above(long: Any) -> None:
    """Strictly above the root there is nothing."""
    _, port, thread, nodes, _ = long
    page = port.query("thread.page", threadId=thread, beforeNodeId=nodes[1], limit=10)
    assert (page["nodes"], page["before"]) == ([], None)


def test_paging_from_a_node_of_nowhere(long: Any) -> None:
    """A node of another thread is `not_found`; a limit beyond bounds `invalid_command`."""
    _, port, thread, nodes, _ = long
    other = port.ack("thread.create")["threadId"]
    assert port.refused("thread.page", threadId=other, beforeNodeId=nodes[5], limit=5)["code"] == "not_found"
    assert port.refused("thread.page", threadId=thread, beforeNodeId=nodes[5], limit=0)["code"] == "invalid_command"


def test_the_length_of_a_thread_does_not_show_in_a_window(long: Any) -> None:
    """E45, E47: opening a thread reads a window: a process that opens it stays small."""
    store, _, thread, _, _ = long
    port = store.open(subscribe=thread)
    assert len(port.event("thread.snapshot")["nodes"]) == 200
    with open(f"/proc/{port.process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert peak < 60 * 1024


def test_a_branch_of_a_long_thread_is_chosen_quickly(long: Any) -> None:
    """2,000 nodes below a fork: the walk down is one pass."""
    import time

    _, port, thread, nodes, aside = long
    assert port.ack("thread.selectBranch", threadId=thread, nodeId=aside)["leafId"] == aside
    begun = time.monotonic()
    assert port.ack("thread.selectBranch", threadId=thread, nodeId=nodes[1])["leafId"] == aside
    assert port.ack("thread.selectBranch", threadId=thread, nodeId=nodes[1_001])["leafId"] == nodes[-1]
    assert time.monotonic() - begun < 1


def test_a_path_that_ends_in_hidden_nodes_fills_its_window(store: Store) -> None:
    """Tombstones do not use up a window: it holds what can be seen."""
    port: HostClient = store.open()
    thread = port.ack("thread.create")["threadId"]
    nodes = [
        port.ack("node.append", threadId=thread, nodeType="user_message", payload=text(str(number)))["nodeId"]
        for number in range(60)
    ]
    for node in nodes[10:]:
        port.ack("node.delete", threadId=thread, nodeId=node)
    shown = port.query("thread.subscribe", threadId=thread)
    assert [node["id"] for node in shown["nodes"]] == nodes[:10]
    assert shown["before"] is None
    page = port.query("thread.page", threadId=thread, beforeNodeId=nodes[59], limit=4)
    assert [node["id"] for node in page["nodes"]] == nodes[6:10]
    assert page["before"] == nodes[6]
