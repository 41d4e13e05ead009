"""`sidekeep show`: one conversation, whole, as it stands in the panel."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.stores import Store, said, text


def test_shows_the_whole_path_root_first(store: Store, sidekeep: Callable) -> None:
    """More than one window of a snapshot, joined without a gap or a repeat, tombstones left out."""
    host = store.open()
    thread = host.ack("thread.create", title="Long")["threadId"]
    nodes = [
        host.ack("node.append", threadId=thread, nodeType="user_message", payload=text(f"line {number}"))["nodeId"]
        for number in range(450)
    ]
    host.ack("node.delete", threadId=thread, nodeId=nodes[7])
    document = sidekeep("show", thread, "--json").document
    assert [node["id"] for node in document["nodes"]] == nodes[:7] + nodes[8:]
    assert document["thread"]["title"] == "Long"
    assert document["activeTurn"] is None
    out = sidekeep("show", thread).out
    assert [line for line in out.splitlines() if line.startswith("line ")] == [
        f"line {number}" for number in range(450) if number != 7
    ]


def test_shows_the_active_branch(store: Store, sidekeep: Callable) -> None:
    """The branch under the cursor, and where others leave it."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    root = host.ack("node.append", threadId=thread, nodeType="user_message", payload=text("question"))["nodeId"]
    one, two = (
        host.ack("node.append", threadId=thread, parentId=root, nodeType="assistant_message", payload=said(words))[
            "nodeId"
        ]
        for words in ("first answer", "second answer")
    )
    document = sidekeep("show", thread, "--json").document
    assert [node["id"] for node in document["nodes"]] == [root, two]
    assert document["siblings"][two]["ids"] == [one, two]
    out = sidekeep("show", thread).out
    assert "second answer" in out
    assert "first answer" not in out


def test_what_was_attached_is_named(store: Store, sidekeep: Callable) -> None:
    """A page's title and address in one line for people, its text in the document."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    page = {
        "kind": "page", "title": "Pools", "url": "https://example.org/pools", "text": "Rock and water.",
        "trust": "untrusted", "provenance": "page",
    }  # fmt: skip
    payload = {**text("Summarise this."), "attachedContext": [page]}
    host.ack("node.append", threadId=thread, nodeType="user_message", payload=payload)
    out = sidekeep("show", thread).out
    assert "[page: Pools https://example.org/pools]" in out
    assert "Rock and water." not in out
    (node,) = sidekeep("show", thread, "--json").document["nodes"]
    assert node["payload"]["attachedContext"] == [page]


def test_text_cannot_command_the_terminal(store: Store, sidekeep: Callable) -> None:
    """Escape sequences in a message are made visible; line breaks and tabs stay."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    words = "one\n\ttwo \x1b[2J\x1b]8;;http://evil\x07 three"
    host.ack("node.append", threadId=thread, nodeType="assistant_message", payload=said(words))
    out = sidekeep("show", thread).out
    assert "one\n\ttwo" in out
    assert not set(out) & set("\x1b\x07")
    (node,) = sidekeep("show", thread, "--json").document["nodes"]
    assert node["payload"]["content"][0]["text"] == words


def test_a_beginning_of_the_id_is_enough(store: Store, sidekeep: Callable) -> None:
    """Four characters or more that only one conversation has; else a sentence and status 2."""
    host = store.open()
    ids = ("aaaaaaaa-0000-7000-8000-000000000001", "aaaaaaab-0000-7000-8000-000000000002")
    for thread in ids:
        host.ack("thread.create", threadId=thread)
    assert sidekeep("show", "aaaaaaab", "--json").document["thread"]["id"] == ids[1]
    assert sidekeep("show", ids[0].upper(), "--json").document["thread"]["id"] == ids[0]
    for beginning in ("aaaaaaa", "aaa", "%", "aaaa*"):
        refused = sidekeep("show", beginning, "--json")
        assert (refused.status, refused.document["error"]["code"]) == (2, "invalid_command")


@pytest.mark.parametrize("gone", ["unknown", "trash"])
def test_what_is_not_there_is_not_found(store: Store, sidekeep: Callable, gone: str) -> None:
    """Status 1 and a sentence without a traceback."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    if gone == "trash":
        host.ack("thread.delete", threadId=thread)
    else:
        thread = "0" * 8 + thread[8:]
    done = sidekeep("show", thread)
    assert (done.status, done.out) == (1, "")
    assert len(done.err.splitlines()) == 1


def test_without_a_store_it_says_so(tmp_path: Path, sidekeep: Callable) -> None:
    done = sidekeep("show", "abcdef")
    assert done.status == 1
    assert "no store" in done.err
    assert not (tmp_path / "state").exists()
