"""Threads: made, changed with revisions, listed by filters and cursors that stay right while rows move."""

import uuid
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import Store, text


def new(port: HostClient, **members: Any) -> str:
    return str(port.ack("thread.create", **members)["threadId"])


def meta(port: HostClient, thread: str) -> dict[str, Any]:
    return dict(port.query("thread.subscribe", threadId=thread)["thread"])


def test_a_thread_has_everything_that_it_was_made_with(port: HostClient) -> None:
    """`thread.create`: each optional member is in ThreadMeta; what was not given is left out, never null."""
    given = {
        "title": "Plans", "preset": "p", "folderId": "f", "tags": ["a", "b"], "projectId": "default",
        "source": "shell", "agentId": "other", "channel": "c", "accountId": "x", "peerId": "y", "peerDisplay": "Z",
    }  # fmt: skip
    answer = port.ack("thread.create", **given)
    found = meta(port, answer["threadId"])
    assert {name: found[name] for name in given} == given
    assert (found["revision"], answer["revision"]) == (1, 1)
    bare = meta(port, new(port))
    assert (bare["title"], bare["source"], bare["agentId"], bare["status"]) == ("", "panel", "main", "idle")
    assert (bare["tags"], bare["pinned"], bare["archived"], bare["unread"]) == ([], False, False, False)
    assert bare["stats"] == {"turns": 0, "totalTokens": 0, "costUsd": 0}
    assert bare["createdAt"] == bare["updatedAt"]
    assert bare["leafId"] is None
    assert set(bare) == {
        "id", "title", "createdAt", "updatedAt", "leafId", "tags", "pinned", "archived", "stats", "scopeOrigins",
        "revision", "agentId", "source", "status", "unread",
    }  # fmt: skip


def test_an_id_of_the_client_is_taken_once(port: HostClient) -> None:
    """`threadId`?: an existing id → `conflict`, one in the trash too."""
    wanted = str(uuid.uuid4())
    assert new(port, threadId=wanted) == wanted
    assert port.refused("thread.create", threadId=wanted)["code"] == "conflict"
    port.ack("thread.delete", threadId=wanted)
    assert port.refused("thread.create", threadId=wanted)["code"] == "conflict"


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        ({"title": "New 漢"}, {"title": "New 漢"}),
        ({"pinned": True, "archived": True, "unread": True}, {"pinned": True, "archived": True, "unread": True}),
        ({"tags": ["x", "x y"]}, {"tags": ["x", "x y"]}),
        ({"folderId": "f", "preset": "p", "group": "g", "projectId": "q"},
         {"folderId": "f", "preset": "p", "group": "g", "projectId": "q"}),
    ],
)  # fmt: skip
def test_an_update_changes_what_it_names_and_raises_the_revision(port: HostClient, patch: dict, shown: dict) -> None:
    """`thread.update` → ack `revision`; the row, the broadcast and the list have it."""
    thread = new(port, title="Old")
    before = meta(port, thread)
    revision = port.ack("thread.update", threadId=thread, patch=patch)["revision"]
    assert revision == before["revision"] + 1
    after = meta(port, thread)
    assert {name: after[name] for name in shown} == shown
    assert after["updatedAt"] == before["updatedAt"]  # only appended content moves it
    told = port.event("thread.updated", threadId=thread)
    assert told["revision"] == revision
    assert {name: told["patch"][name] for name in shown} == shown


def test_null_clears_and_the_event_says_so(port: HostClient) -> None:
    """A member that is gone is null in the patch that others hear, and absent in the row."""
    thread = new(port, folderId="f", preset="p")
    port.ack("thread.update", threadId=thread, patch={"folderId": None, "preset": None, "group": None})
    assert not {"folderId", "preset", "group"} & set(meta(port, thread))
    told = port.event("thread.updated", threadId=thread)["patch"]
    assert (told["folderId"], told["preset"]) == (None, None)


def test_a_stale_base_is_refused_with_the_current_row(port: HostClient) -> None:
    """E42: writes carry the revision they saw; stale → `conflict` with the current row, never an overwrite."""
    thread = new(port, title="First")
    port.ack("thread.update", threadId=thread, patch={"title": "Second"}, expectedRevision=1)
    refusal = port.refused("thread.update", threadId=thread, patch={"title": "Stale"}, expectedRevision=1)
    assert refusal["code"] == "conflict"
    assert refusal["current"] == meta(port, thread)
    assert refusal["current"]["title"] == "Second"
    base = refusal["current"]["revision"]
    assert port.ack("thread.update", threadId=thread, patch={"title": "Third"}, expectedRevision=base)


def test_a_change_that_changes_nothing_keeps_the_revision(port: HostClient) -> None:
    """The same value again is no change, and nobody is told."""
    thread = new(port, title="Same")
    assert port.ack("thread.update", threadId=thread, patch={"title": "Same", "pinned": False})["revision"] == 1
    port.ask("ping")
    assert port.seen("thread.updated", threadId=thread) == []


def test_wrong_patches_are_refused_by_name(port: HostClient) -> None:
    """`invalid_command`, naming the member; nothing of the patch is taken."""
    thread = new(port, title="Whole")
    for patch, named in (
        ({}, "patch"),
        ({"title": "x", "leafId": "y"}, "leafId"),
        ({"title": None}, "title"),
        ({"title": "x" * 10_001}, "title"),
        ({"tags": ["ok", ""]}, "tags"),
        ({"tags": ["t"] * 101}, "tags"),
        ({"pinned": 1}, "pinned"),
        ({"status": "done"}, "status"),
    ):
        refusal = port.refused("thread.update", threadId=thread, patch=patch)
        assert refusal["code"] == "invalid_command"
        assert named in refusal["message"]
    assert (meta(port, thread)["title"], meta(port, thread)["revision"]) == ("Whole", 1)


def test_the_project_is_free_until_the_first_message(port: HostClient) -> None:
    """`projectId` (until the first turn, then `project_frozen`)."""
    thread = new(port)
    port.ack("thread.update", threadId=thread, patch={"projectId": "one"})
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("begin"))
    assert port.refused("thread.update", threadId=thread, patch={"projectId": "two"})["code"] == "project_frozen"
    port.ack("thread.update", threadId=thread, patch={"projectId": "one", "title": "other members may change"})


def test_a_thread_is_named_by_its_first_line_until_a_person_names_it(port: HostClient) -> None:
    """A title set here ends automatic titles."""
    thread = new(port)
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("How do I fold a map?\nAnd why?"))
    assert meta(port, thread)["title"] == "How do I fold a map?"
    port.ack("thread.update", threadId=thread, patch={"title": ""})
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("Another line"))
    assert meta(port, thread)["title"] == ""


def test_only_appended_content_moves_a_thread_up(store: Store) -> None:
    """The order of the list is `updatedAt`; renaming, pinning and branches do not move it."""
    port = store.open()
    old, middle, young = (new(port, title=title) for title in ("old", "middle", "young"))
    assert listed(port) == [young, middle, old]
    port.ack("thread.update", threadId=old, patch={"title": "renamed", "pinned": True})
    assert listed(port) == [young, middle, old]
    node = port.ack("node.append", threadId=old, nodeType="user_message", payload=text("x"))["nodeId"]
    assert listed(port) == [old, young, middle]
    port.ack("node.append", threadId=young, nodeType="user_message", payload=text("y"))
    port.ack("node.delete", threadId=old, nodeId=node)
    port.ack("thread.selectBranch", threadId=old, nodeId=node)
    assert listed(port) == [young, old, middle]


def listed(port: HostClient, **filters: Any) -> list[str]:
    return [thread["id"] for thread in port.query("thread.list", **filters)["threads"]]


def test_filters_hold_together_and_the_total_counts_what_they_let_through(store: Store) -> None:
    """`thread.list`: archived, pinned, folderId, tag, projectId, status, trash, withTotal."""
    port = store.open()
    a = new(port, title="a", folderId="f", tags=["one", "two"])
    b = new(port, title="b", folderId="f", tags=["two"])
    c = new(port, title="c", projectId="p", tags=["One"])
    d = new(port, title="d")
    port.ack("thread.update", threadId=b, patch={"pinned": True})
    port.ack("thread.update", threadId=c, patch={"archived": True})
    port.ack("thread.delete", threadId=d)
    assert listed(port) == [b, a]
    assert listed(port, archived=True) == [c]
    assert listed(port, archived="all") == [c, b, a]
    assert listed(port, trash=True) == [d]
    assert listed(port, folderId="f") == [b, a]
    assert listed(port, folderId="f", pinned=True) == [b]
    assert listed(port, folderId="f", pinned=False) == [a]
    assert listed(port, tag="two") == [b, a]
    assert listed(port, tag="one") == [a]
    assert listed(port, projectId="p", archived="all") == [c]
    assert listed(port, status="idle") == [b, a]
    assert listed(port, status="failed") == []
    assert port.query("thread.list", withTotal=True, limit=1)["total"] == 2
    assert port.query("thread.list", withTotal=True, tag="one", archived="all")["total"] == 1
    assert "total" not in port.query("thread.list")
    assert port.query("thread.list", trash=True)["threads"][0]["deletedAt"] > 0


def paged(port: HostClient, limit: int, between: Any = None, **filters: Any) -> list[str]:
    """Every id of the list, page by page; `between` happens after the first page."""
    found: list[str] = []
    cursor: dict[str, Any] = {}
    for number in range(1_000):
        page = port.query("thread.list", limit=limit, **cursor, **filters)
        assert len(page["threads"]) <= limit
        found += [thread["id"] for thread in page["threads"]]
        if page["cursor"] is None:
            return found
        cursor = {"cursor": page["cursor"]}
        if number == 0 and between is not None:
            between()
    raise AssertionError("the list has no end")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A store of forty threads, several of the same millisecond."""
    from support.stores import temporary_store

    with temporary_store(tmp_path_factory.mktemp("many") / "state") as store:
        port = store.open()
        sent = [port.send("thread.create", title=str(number)) for number in range(40)]
        yield port, [port.answer(submission)["threadId"] for submission in sent]


@pytest.mark.parametrize("limit", [1, 7, 39, 40, 41, 500])
def test_pages_join_to_the_list_without_a_gap_or_a_double(many: Any, limit: int) -> None:
    """The cursor is (updatedAt, id): rows of one millisecond are not lost between pages."""
    port, threads = many
    found = paged(port, limit)
    assert sorted(found) == sorted(threads)


def test_a_cursor_stays_right_while_rows_move(store: Store) -> None:
    """Rows that move up, come, or go between two pages: every row that stayed is seen once, none twice."""
    port = store.open()
    threads = [new(port, title=str(number)) for number in range(20)]

    def between() -> None:
        port.ack("node.append", threadId=threads[0], nodeType="user_message", payload=text("up"))  # from page 4
        port.ack("node.append", threadId=threads[19], nodeType="user_message", payload=text("up"))  # seen already
        port.ack("thread.delete", threadId=threads[10])
        new(port, title="came")
        port.ack("thread.update", threadId=threads[5], patch={"archived": True})

    found = paged(port, 5, between)
    assert len(found) == len(set(found))
    stayed = set(threads) - {threads[0], threads[10], threads[5]}
    assert stayed <= set(found)
    assert not {threads[10], threads[5]} & set(found)


@pytest.mark.parametrize("cursor", ["", "AAAA", "@@@@", "MTIz", "x" * 1000, "MTox", "漢"])
def test_a_cursor_that_this_list_did_not_give_is_refused(port: HostClient, cursor: str) -> None:
    """`invalid_command`, and no fault of ours."""
    assert port.refused("thread.list", cursor=cursor)["code"] == "invalid_command"


@pytest.mark.parametrize("limit", [0, -1, 501, 10**9])
def test_a_list_has_at_most_five_hundred(port: HostClient, limit: int) -> None:
    """`limit` ≤ 500."""
    assert port.refused("thread.list", limit=limit)["code"] == "invalid_command"


@pytest.mark.parametrize(
    ("op", "members"),
    [
        ("thread.update", {"patch": {"title": "x"}}),
        ("thread.delete", {}),
        ("thread.restore", {}),
        ("thread.fork", {"atNodeId": str(uuid.UUID(int=1))}),
        ("thread.selectBranch", {"nodeId": str(uuid.UUID(int=1))}),
        ("thread.subscribe", {}),
        ("thread.page", {"beforeNodeId": str(uuid.UUID(int=1)), "limit": 5}),
        ("branch.list", {}),
        ("branch.delete", {"leafId": str(uuid.UUID(int=1))}),
        ("node.append", {"nodeType": "user_message", "payload": text("x")}),
        ("node.delete", {"nodeId": str(uuid.UUID(int=1))}),
        ("node.restore", {"nodeId": str(uuid.UUID(int=1))}),
        ("turn.submit", {"input": text("x")}),
        ("turn.enqueue", {"input": text("x")}),
        ("turn.fork", {"siblingOfNodeId": str(uuid.UUID(int=1))}),
        ("turn.interrupt", {}),
        ("run.resume", {"runId": str(uuid.UUID(int=1))}),
    ],
)
def test_an_op_on_no_thread_is_not_found(port: HostClient, op: str, members: dict) -> None:
    """Whatever it asks, a thread that is not there is `not_found`, and nothing is made."""
    refusal = port.refused(op, threadId=str(uuid.uuid4()), **members)
    assert (refusal["code"], refusal["retryable"]) == ("not_found", False)
