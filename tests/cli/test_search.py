"""`sidekeep search`: what the panel finds, from the shell."""

from collections.abc import Callable
from pathlib import Path

from support.stores import Store, text


def test_finds_what_the_panel_finds(store: Store, sidekeep: Callable) -> None:
    """The same hits in the same order as `thread.search`, fresh ones too, by kind, thread and site."""
    host = store.open()
    threads = [host.ack("thread.create", title=f"walnut {n}")["threadId"] for n in range(2)]
    for thread in threads:
        host.ack("node.append", threadId=thread, nodeType="user_message", payload=text("a walnut tree"))
    host.ack("page.capture", url="https://trees.example/w", title="walnut", capturedAt=5, parts=[], text="nuts")
    found = sidekeep("search", "walnut", "--json").document
    assert found == host.query("thread.search", query="walnut")
    assert len(found["hits"]) == 5
    pages = sidekeep("search", "walnut", "--in", "pages", "--json").document["hits"]
    assert [hit["title"] for hit in pages] == ["walnut"]
    assert len(sidekeep("search", "walnut", "--in", "messages,titles", "--json").document["hits"]) == 4
    assert len(sidekeep("search", "walnut", "--thread", threads[0], "--json").document["hits"]) == 2
    assert len(sidekeep("search", "walnut", "--site", "trees.example", "--json").document["hits"]) == 1
    more = sidekeep("search", "walnut", "tree", "--limit", "1")
    assert more.status == 0
    assert "a walnut tree" in more.out
    assert "There is more" in more.out
    assert sidekeep("search", "hazel").out == "Nothing was found.\n"


def test_builds_the_index_anew(store: Store, sidekeep: Callable) -> None:
    """One command fills the index from nothing; a host that is open finds everything in it."""
    host = store.open()
    thread = host.ack("thread.create", title="title")["threadId"]
    for number in range(150):
        host.ack("node.append", threadId=thread, nodeType="user_message", payload=text(f"message {number}"))
    host.ack("page.capture", url="https://example.org/", title="a page", capturedAt=1, parts=[])
    before = host.query("thread.search", query="message", limit=200)["hits"]
    done = sidekeep("search", "--rebuild", "--json").document
    assert done["indexed"] == 152
    after = host.query("thread.search", query="message", limit=200)["hits"]
    assert {hit["nodeId"] for hit in after} == {hit["nodeId"] for hit in before}
    assert len(after) == 150
    assert host.query("thread.search", query="title", **{"in": ["titles"]})["hits"][0]["threadId"] == thread
    assert len(host.query("thread.search", query="example.org")["hits"]) == 1


def test_wrong_usage_and_no_store(store: Store, sidekeep: Callable, tmp_path: Path) -> None:
    """Without words, or with a kind that is none, it is wrong usage; a store that is not there is not made."""
    store.open()
    assert sidekeep("search", "--json").document["error"]["code"] == "invalid_command"
    assert sidekeep("search", "x", "--in", "messages,letters").status == 2
    nowhere = tmp_path / "nowhere"
    missing = sidekeep("search", "x", "--json", state=nowhere)
    assert (missing.status, missing.document["error"]["code"]) == (1, "not_found")
    assert not nowhere.exists()
