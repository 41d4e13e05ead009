"""What a search sees, and what it does not: fresh commits, titles, pages, branches, tombstones, the trash (D3)."""

from collections.abc import Callable
from typing import Any

import pytest

from support.damage import behind_its_back
from support.hostclient import HostClient
from support.stores import Store, said, text
from support.uploading import upload

MARK, UNMARK = "\ue000", "\ue001"


def hits(host: HostClient, query: str, **members: Any) -> list[dict[str, Any]]:
    return list(host.query("thread.search", query=query, limit=200, **members)["hits"])


def append(host: HostClient, thread: str, words: str, **members: Any) -> str:
    members = {"nodeType": "user_message", "payload": text(words), **members}
    return str(host.ack("node.append", threadId=thread, **members)["nodeId"])


def test_a_query_sees_all_that_was_acknowledged(store: Store) -> None:
    """What any process has committed is found at once, without waiting, from every host."""
    host, other = store.open(), store.open()
    thread = host.ack("thread.create", title="Journey")["threadId"]
    for number in range(120):
        node = append(host, thread, f"station{number} on the way")
        if number % 10 == 0:
            assert [hit["nodeId"] for hit in hits(other, f"station{number}")] == [node]
    assert len(hits(host, "station")) == 120


def test_what_a_hit_says(store: Store) -> None:
    """Thread, node, title, time, rank, and a piece of the text around what was found, with marks."""
    host = store.open()
    thread = host.ack("thread.create", title="On rivers")["threadId"]
    long = "word " * 100 + "the Donau flows east " + "word " * 100
    node = append(host, thread, long, nodeType="assistant_message", payload=said(long))
    (hit,) = hits(host, "donau FLOWS")
    assert (hit["threadId"], hit["nodeId"], hit["title"]) == (thread, node, "On rivers")
    assert f"the {MARK}Donau{UNMARK} {MARK}flows{UNMARK} east" in hit["snippet"]
    assert hit["snippet"].startswith("\u2026")
    assert hit["snippet"].endswith("\u2026")
    assert len(hit["snippet"]) < 230
    assert hit["rank"] > 0
    assert hit["ts"] > 1_700_000_000_000


def test_the_better_hit_comes_first(store: Store) -> None:
    """Among hits a title, and a short text that says it often, come before a long one that says it once."""
    host = store.open()
    passing = host.ack("thread.create")["threadId"]
    append(host, passing, "a first line, which names the thread")
    titled = host.ack("thread.create", title="Saffron")["threadId"]
    often = append(host, passing, "saffron, saffron and more saffron")
    once = append(host, passing, "nothing to see here " * 200 + "saffron")
    found = hits(host, "saffron")
    assert [hit.get("nodeId") for hit in found] == [None, often, once]
    assert found[0]["threadId"] == titled
    assert [hit["rank"] for hit in found] == sorted((hit["rank"] for hit in found), reverse=True)


def test_a_title_is_found_as_it_is_now(store: Store) -> None:
    """A title that changed is found by its new words and no longer by its old ones, once."""
    host = store.open()
    thread = host.ack("thread.create", title="Gooseberries")["threadId"]
    assert [hit["threadId"] for hit in hits(host, "gooseberries")] == [thread]
    host.ack("thread.update", threadId=thread, patch={"title": "Raspberries"})
    assert hits(host, "gooseberries") == []
    (hit,) = hits(host, "raspberries", **{"in": ["titles"]})
    assert hit["snippet"] == f"{MARK}Raspberries{UNMARK}"
    assert "nodeId" not in hit


def test_notices_contexts_and_every_branch(store: Store) -> None:
    """Notices, answers, attached text and messages off the active path are found too; a hit opens its branch."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    root = append(host, thread, "root")
    old = append(host, thread, "an oldbranch", parentId=root)
    append(host, thread, "a newbranch", parentId=root)
    notice = append(host, thread, "", nodeType="system_notice", payload={"text": "noticeable remark"})
    block = {"kind": "page", "title": "Pagetitle", "text": "pagewords", "trust": "untrusted", "provenance": "page"}
    context = append(host, thread, "", payload={**text("look"), "attachedContext": [block]})
    assert [hit["nodeId"] for hit in hits(host, "oldbranch")] == [old]
    assert [hit["nodeId"] for hit in hits(host, "noticeable")] == [notice]
    assert [hit["nodeId"] for hit in hits(host, "pagetitle pagewords look")] == [context]
    assert host.ack("thread.selectBranch", threadId=thread, nodeId=old)["leafId"] == old


def test_tombstones_trash_and_purge(store: Store) -> None:
    """A deleted message and a thread in the trash are not found, and are found again after the undo; purged is gone."""
    host = store.open()
    thread = host.ack("thread.create", title="Findable title")["threadId"]
    node = append(host, thread, "findable message")
    assert len(hits(host, "findable")) == 2
    host.ack("node.delete", threadId=thread, nodeId=node)
    assert [hit.get("nodeId") for hit in hits(host, "findable")] == [None]
    host.ack("node.restore", threadId=thread, nodeId=node)
    assert len(hits(host, "findable")) == 2
    host.ack("thread.delete", threadId=thread)
    assert hits(host, "findable") == []
    host.ack("thread.restore", threadId=thread)
    assert len(hits(host, "findable")) == 2
    host.ack("thread.delete", threadId=thread, purge=True)
    assert hits(host, "findable") == []


def test_a_fork_is_found_on_its_own(store: Store) -> None:
    """Copies in a forked thread are found, also when the thread they came from is purged."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    node = append(host, thread, "forkable")
    fork = host.ack("thread.fork", threadId=thread, atNodeId=node)["threadId"]
    assert {hit["threadId"] for hit in hits(host, "forkable", **{"in": ["messages"]})} == {thread, fork}
    host.ack("thread.delete", threadId=thread, purge=True)
    assert {hit["threadId"] for hit in hits(host, "forkable", **{"in": ["messages"]})} == {fork}


def test_pages(store: Store) -> None:
    """A kept page is found by title, text, selection and address, as a page, until it is deleted; then it is not."""
    host = store.open()
    thread = host.ack("thread.create", title="about owls")["threadId"]
    about = {"url": "https://birds.example.org/owls", "title": "Owls of the north", "capturedAt": 1000, "parts": []}
    page = host.ack("page.capture", threadId=thread, text="they hunt by night", selection="silentwings", **about)[
        "pageId"
    ]
    for query in ("owls north", "hunt night", "silentwings", "birds.example.org"):
        (hit,) = hits(host, query, **{"in": ["pages"]})
        assert (hit["pageId"], hit["threadId"], hit["title"], hit["ts"]) == (page, thread, "Owls of the north", 1000)
        assert "nodeId" not in hit
    assert {"pageId" in hit for hit in hits(host, "owls")} == {True, False}
    host.ack("page.delete", pageId=page)
    assert hits(host, "hunt") == []


def test_a_page_whose_text_is_a_part(store: Store) -> None:
    """A page without text of its own is found by the text of its part of kind `page_text`."""
    host = store.open()
    words = "der Uhu ruft\n" * 30_000 + "dahinter: Waldkauz"
    part = upload(host, words.encode(), kind="page_text", mime="text/markdown", provenance="page", trust="untrusted")
    page = host.ack("page.capture", url="https://example.org/", title="t", capturedAt=1, parts=[part])["pageId"]
    (hit,) = hits(host, "waldkauz")
    assert hit["pageId"] == page
    assert f"{MARK}Waldkauz{UNMARK}" in hit["snippet"]


def test_filters(store: Store) -> None:
    """By thread, kind, site and time; together they all hold."""
    host = store.open()
    one, two = (host.ack("thread.create", title=f"filter {n}")["threadId"] for n in range(2))
    first, second = append(host, one, "filter me"), append(host, two, "filter me")
    pages = [
        host.ack("page.capture", url=url, title="filter", capturedAt=at, parts=[], text="", threadId=one)["pageId"]
        for at, url in enumerate(["https://a.example/", "https://b.example/", "https://sub.b.example/"], start=1000)
    ]

    def ids(**members: Any) -> set[str]:
        return {hit.get("nodeId") or hit.get("pageId") or hit["threadId"] for hit in hits(host, "filter", **members)}

    everything = {one, two, first, second, *pages}
    assert ids() == everything
    assert ids(threadId=one) == {one, first, *pages}
    assert ids(threadId=two) == {two, second}
    assert ids(**{"in": ["titles"]}) == {one, two}
    assert ids(**{"in": ["messages", "pages"]}) == {first, second, *pages}
    assert ids(**{"in": []}) == set()
    assert ids(site="b.example") == {pages[1], pages[2]}
    assert ids(since=1001, until=1001) == {pages[1]}
    assert ids(since=2000) == everything - set(pages)
    assert ids(site="b.example", since=1002, threadId=one) == {pages[2]}
    assert ids(site="b.example", threadId=two) == set()
    trashed = host.ack("thread.create")["threadId"]
    host.ack("thread.delete", threadId=trashed)
    assert host.refused("thread.search", query="x", threadId=trashed)["code"] == "not_found"


@pytest.mark.parametrize("kind", ["kill", "close"])
def test_the_index_goes_on_after_any_end(store: Store, kind: str) -> None:
    """What was committed and not yet indexed when a host ended is found by the next one."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    nodes = {append(host, thread, f"afterwards {n}") for n in range(30)}
    ends: dict[str, Callable[[], None]] = {"kill": host.kill, "close": host.close}
    ends[kind]()
    assert {hit["nodeId"] for hit in hits(store.open(), "afterwards", **{"in": ["messages"]})} == nodes


def test_a_long_page_of_hits(store: Store) -> None:
    """Hits beyond what is ranked together come by the cursor, none twice, none lost."""
    host = store.open()
    thread = host.ack("thread.create", title="~")["threadId"]
    nodes = [append(host, thread, f"common {'often ' * (n % 7)}") for n in range(180)]
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = host.query("thread.search", query="common", limit=17, **cursor)
        found += [hit["nodeId"] for hit in page["hits"] if "nodeId" in hit]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert sorted(found) == sorted(nodes)
    newest = set(nodes[-30:])
    assert set(found[:17]) <= newest


@pytest.mark.parametrize(
    "payload", [b"{", b"null", b"[1]", b'{"content":7}', b'{"content":[7,{"type":"text","text":7}]}', b"\xff"]
)
@pytest.mark.parametrize("indexed", [True, False])
def test_a_damaged_message_hides_no_other(store: Store, payload: bytes, *, indexed: bool) -> None:
    """E13: what can be read is found, whether the damage came before the index or after it.

    What was indexed while it was whole is still a hit, which leads to the notice that stands there.
    """
    host = store.open()
    thread = host.ack("thread.create", title="Journey")["threadId"]
    broken, whole = append(host, thread, "a station"), append(host, thread, "a station")
    if indexed:
        assert len(hits(host, "station")) == 2
    host.close()
    with behind_its_back(store.state) as db:
        db.execute("UPDATE nodes SET payload = CAST(? AS TEXT) WHERE id = ?", (payload, broken))
    assert {hit["nodeId"] for hit in hits(store.open(), "station")} == ({broken, whole} if indexed else {whole})
