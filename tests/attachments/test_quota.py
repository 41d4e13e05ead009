"""The quota: what goes, in which order, what never goes, and who hears of it (A9, E53)."""

import base64
import hashlib
import time
from typing import Any

import apsw
import pytest

from support.hostclient import HostClient
from support.stores import Store, text
from support.uploading import begin, chunks, made, read_back, upload

MIB = 1024 * 1024
CAPTURED = {"kind": "screenshot", "provenance": "page", "trust": "untrusted", "mime": "image/png"}


@pytest.fixture
def host(store: Store) -> HostClient:
    """A host whose quota is 1 MiB."""
    host = store.open()
    host.ack("settings.set", patch={"attachments.limit_bytes": MIB})
    return host


def captured(host: HostClient, seed: int, size: int = 300 * 1024, **members: Any) -> str:
    return upload(host, made(size, seed=seed), **{**CAPTURED, **members})


def evicted(host: HostClient) -> set[str]:
    """What has been told to be gone so far."""
    return {one for event in host.seen("attachment.evicted") for one in event["attachmentIds"]}


def state(host: HostClient, attachment: str) -> str:
    listed = {one["id"]: one for one in host.query("attachment.list", limit=500)["attachments"]}
    if attachment not in listed:
        return "unknown"
    return "evicted" if listed[attachment].get("evicted") else "stored"


def until_under_the_limit(host: HostClient) -> None:
    """Waits for the step that makes room: it comes when nothing waits, and is told by an event each time."""
    host.until(lambda events: any(e["type"] == "attachment.evicted" for e in events), "an eviction")
    end = time.monotonic() + 10
    while host.query("storage.status")["evictableBytes"] > MIB:
        assert time.monotonic() < end


def test_the_least_recently_used_goes_first(host: HostClient) -> None:
    """Over the limit the blob whose last use is oldest goes; a read counts as use, from any host."""
    first, second, third = (captured(host, n) for n in range(3))
    host.query("attachment.read", attachmentId=first, offset=0, length=1)
    fourth = captured(host, 3)
    until_under_the_limit(host)
    assert evicted(host) == {second}
    assert [state(host, one) for one in (first, second, third, fourth)] == ["stored", "evicted", "stored", "stored"]


def test_an_evicted_one_is_a_tombstone(host: HostClient) -> None:
    """E52: name, size, digest and source stay, the bytes are gone, and messages that name it say so."""
    thread = host.ack("thread.create")["threadId"]
    gone = captured(host, 0, threadId=thread, meta={"title": "a chart", "url": "https://example.org/chart"})
    payload = {
        "content": [{"type": "text", "text": "see"}, {"type": "image", "attachmentId": gone, "mime": "image/png"}]
    }
    node = host.ack("node.append", threadId=thread, nodeType="user_message", payload=payload)["nodeId"]
    for seed in range(1, 4):
        captured(host, seed)
    told = host.event("attachment.evicted")
    assert told == {"type": "attachment.evicted", "threadId": thread, "attachmentIds": [gone]}
    assert host.refused("attachment.read", attachmentId=gone, offset=0, length=1)["code"] == "not_found"
    (listed,) = host.query("attachment.list", threadId=thread)["attachments"]
    assert listed["evicted"] is True
    assert listed["size"] == 300 * 1024
    assert len(listed["sha256"]) == 64
    assert listed["meta"] == {"title": "a chart", "url": "https://example.org/chart"}
    (shown,) = host.query("thread.subscribe", threadId=thread)["nodes"]
    assert (shown["id"], shown["evicted"]) == (node, True)


def test_what_never_goes(store: Store, host: HostClient) -> None:
    """Uploads of a person, pinned ones, kept pages, and threads that are watched, run, or lie in the trash stay."""
    host.ack("settings.set", patch={"attachments.limit_bytes": 10 * MIB})
    threads = [host.ack("thread.create")["threadId"] for _ in range(3)]
    watched, running, trashed = threads
    spared = {
        "user": captured(host, 1, provenance="user", threadId=watched),
        "pinned": captured(host, 2),
        "page": captured(host, 3),
        "watched": captured(host, 4, threadId=watched),
        "running": captured(host, 5, threadId=running),
    }
    host.ack("attachment.pin", attachmentId=spared["pinned"], pinned=True)
    host.ack(
        "page.capture", url="https://example.org/", title="kept", capturedAt=1, parts=[spared["page"]], text="kept"
    )
    store.open().query("thread.subscribe", threadId=watched)
    host.ack("turn.submit", threadId=running, input=text("go"))
    in_trash = captured(host, 6, threadId=trashed)
    host.ack("thread.delete", threadId=trashed)
    passing = [captured(host, seed) for seed in range(7, 12)]
    host.ack("settings.set", patch={"attachments.limit_bytes": MIB})
    until_under_the_limit(host)
    assert {name: state(host, one) for name, one in spared.items()} == dict.fromkeys(spared, "stored")
    assert evicted(host) == set(passing)
    host.ack("thread.restore", threadId=trashed)
    assert read_back(host, in_trash) == made(300 * 1024, seed=6)


def test_shared_bytes_count_once_and_go_together(host: HostClient) -> None:
    """Three attachments on the same bytes count once; when these go, all three are told; a user's holds them."""
    same = [captured(host, 0) for _ in range(3)]
    held = captured(host, 1)
    upload(host, made(300 * 1024, seed=1), kind="page_text", provenance="user")
    assert host.query("storage.status")["evictableBytes"] == 300 * 1024
    for seed in range(2, 5):
        captured(host, seed)
    until_under_the_limit(host)
    assert evicted(host) == set(same)
    assert state(host, held) == "stored"


def test_bytes_that_only_have_to_be_committed_stay(host: HostClient) -> None:
    """An upload that was told `have` can be committed, whatever is evicted meanwhile."""
    data = made(300 * 1024, seed=0)
    captured(host, 0)
    promised = begin(host, data, **{**CAPTURED, "sha256": hashlib.sha256(data).hexdigest()})
    for seed in range(1, 5):
        captured(host, seed)
    until_under_the_limit(host)
    host.ack("attachment.commit", attachmentId=promised)
    assert read_back(host, promised) == data


def test_a_warning_at_80_percent_once(host: HostClient) -> None:
    """`storage.warning` comes when the use rises to 80 % of the limit, and again only after it has fallen."""
    first = captured(host, 0, size=700 * 1024)
    assert host.query("storage.status")["warn"] is False
    second = captured(host, 1, size=200 * 1024)
    warning = host.event("storage.warning")
    assert warning == {"type": "storage.warning", "usedBytes": 900 * 1024, "limitBytes": MIB, "pct": 87}
    assert host.query("storage.status")["warn"] is True
    third = captured(host, 2, size=10 * 1024)
    host.ack("attachment.delete", attachmentId=first)
    host.ack("attachment.delete", attachmentId=third)
    host.ack("attachment.delete", attachmentId=second)
    captured(host, 3, size=1000 * 1024)
    again = host.event("storage.warning")
    assert again["usedBytes"] == 1000 * 1024
    assert len(host.seen("storage.warning")) == 2


def test_work_that_was_half_done_is_finished_at_startup(store: Store, host: HostClient) -> None:
    """What was dropped before a kill is freed by the next host: no row of bytes is left without an owner."""
    data = made(8 * MIB)
    attachment = begin(host, data, kind="page_snapshot", provenance="page")
    for index, piece in chunks(data):
        host.ack("attachment.chunk", attachmentId=attachment, index=index, data=piece)
    host.ack("attachment.abort", attachmentId=attachment)
    host.kill()
    again = store.open()
    end = time.monotonic() + 15
    while _rows(store, "blob_chunks") or _rows(store, "blobs"):
        assert time.monotonic() < end, "bytes without an owner are left"
        assert again.query("storage.status")["blobs"] == 0
    assert again.query("attachment.list")["attachments"] == []


def _rows(store: Store, table: str) -> int:
    db = apsw.Connection(str(store.state / "sidekeep.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])
    finally:
        db.close()


def test_a_purged_thread_leaves_no_bytes(store: Store, host: HostClient) -> None:
    """E53: after a purge no bytes are left of what only this thread named; what others name stays."""
    thread = host.ack("thread.create")["threadId"]
    shared = made(400 * 1024, seed=1)
    captured(host, 0, threadId=thread)
    upload(host, shared, threadId=thread)
    other = upload(host, shared, threadId=host.ack("thread.create")["threadId"])
    host.ack("thread.delete", threadId=thread, purge=True)
    assert host.query("storage.status")["blobs"] == 1
    end = time.monotonic() + 10
    while _rows(store, "blobs") > 1 or _rows(store, "blob_chunks") > 2:
        assert time.monotonic() < end, "bytes without an owner are left"
    assert read_back(host, other) == shared


@pytest.mark.parametrize("how", ["closes", "commits"])
def test_a_read_counts_for_the_next_process(store: Store, host: HostClient, how: str) -> None:
    """When bytes were last read is written with the next commit of the process, or at its end."""
    first, second = captured(host, 0), captured(host, 1)
    third = captured(host, 2)
    host.query("attachment.read", attachmentId=first, offset=0, length=1)
    if how == "closes":
        host.close()
    else:
        host.ack("thread.create")
        host.kill()
    again = store.open()
    captured(again, 3)
    until_under_the_limit(again)
    assert evicted(again) == {second}
    assert state(again, first) == state(again, third) == "stored"


def test_each_branch_and_fork_keeps_its_files(store: Store, host: HostClient) -> None:
    """E52: after a fork, the end of the original, an eviction and a restart each file opens or is a tombstone."""
    thread = host.ack("thread.create")["threadId"]
    mine = made(200 * 1024, seed=50)
    uploaded = upload(host, mine, threadId=thread)
    seen = captured(host, 0, threadId=thread, meta={"title": "seen"})
    payload = {"content": [{"type": "text", "text": "both"}], "attachmentIds": [uploaded, seen]}
    node = host.ack("node.append", threadId=thread, nodeType="user_message", payload=payload)["nodeId"]
    fork = host.ack("thread.fork", threadId=thread, atNodeId=node)["threadId"]
    host.ack("thread.delete", threadId=thread, purge=True)
    for seed in range(1, 4):
        captured(host, seed)
    until_under_the_limit(host)
    host.close()
    again = store.open()
    (copy,) = again.query("thread.subscribe", threadId=fork)["nodes"]
    assert copy["evicted"] is True
    file, tombstone = copy["payload"]["attachmentIds"]
    assert read_back(again, file) == mine
    listed = {one["id"]: one for one in again.query("attachment.list", threadId=fork)["attachments"]}
    gone = listed[tombstone]
    assert (gone["evicted"], gone["size"], gone["meta"]) == (True, 300 * 1024, {"title": "seen"})
    assert gone["sha256"] == hashlib.sha256(made(300 * 1024, seed=0)).hexdigest()


def test_what_cannot_be_stored_fails_alone(host: HostClient) -> None:
    """E7: an attachment that is too large is refused, and nothing else of the thread changes."""
    thread = host.ack("thread.create", title="stays")["threadId"]
    host.ack("node.append", threadId=thread, nodeType="user_message", payload=text("stays"))
    before = host.query("thread.subscribe", threadId=thread)
    over = {"kind": "file", "mime": "video/mp4", "provenance": "user", "trust": "trusted", "threadId": thread}
    assert host.refused("attachment.begin", size=64 * MIB + 1, **over)["code"] == "too_large"
    attachment = host.ack("attachment.begin", size=10, **over)["attachmentId"]
    too_much = base64.b64encode(bytes(11)).decode()
    assert host.refused("attachment.chunk", attachmentId=attachment, index=0, data=too_much)["code"] == "too_large"
    assert host.query("thread.subscribe", threadId=thread) == before
    assert len(host.query("thread.list")["threads"]) == 1
