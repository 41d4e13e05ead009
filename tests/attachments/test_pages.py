"""Kept pages: a record with its digest, the list by site and thread, and its end (C4)."""

import base64
import hashlib
import json
import uuid
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import Store
from support.uploading import made, upload

PARTS = {"kind": "page_snapshot", "provenance": "page", "trust": "untrusted", "mime": "multipart/related"}


def capture(host: HostClient, url: str, title: str, at: int, **members: Any) -> str:
    members = {"parts": [], "text": f"text of {title}", **members}
    return str(host.ack("page.capture", url=url, title=title, capturedAt=at, **members)["pageId"])


def told(host: HostClient) -> Any:
    """The id of the next page that something is told of."""
    return host.event("store.changed", where=lambda event: event["kind"] == "pages")["id"]


def test_a_page_comes_back_as_it_was_kept(store: Store) -> None:
    """URL, title, time, parts in order, text, selection and what was cut; the digest is over the named members."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    snapshot, picture = made(400_000), made(1000, seed=1)
    parts = [upload(host, snapshot, **PARTS), upload(host, picture, **{**PARTS, "kind": "screenshot"})]
    kept = {
        "url": "https://www.Example.org:8443/a?b#c",
        "title": "Ein Titel: 題名",
        "capturedAt": 1_700_000_000_000,
        "parts": parts,
        "text": "# Words\n\u0000 and \u2028 more 😀",
        "selection": "more",
        "cut": {"reason": "too long", "keptBytes": 10, "totalBytes": 20},
    }
    answer = host.ack("page.capture", threadId=thread, **kept)
    subject = {
        "capturedAt": kept["capturedAt"],
        "cut": kept["cut"],
        "parts": [hashlib.sha256(snapshot).hexdigest(), hashlib.sha256(picture).hexdigest()],
        "text": hashlib.sha256(kept["text"].encode()).hexdigest(),
        "title": kept["title"],
        "url": kept["url"],
    }
    canonical = json.dumps(subject, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    assert answer["digest"] == hashlib.sha256(canonical).hexdigest()
    page = host.query("page.get", pageId=answer["pageId"])["page"]
    assert page == {"id": answer["pageId"], "threadId": thread, "digest": answer["digest"], **kept}
    assert {one["threadId"] for one in host.query("attachment.list", threadId=thread)["attachments"]} == {thread}
    (listed,) = host.query("page.list")["pages"]
    assert "text" not in listed
    assert listed["digest"] == answer["digest"]


def test_every_host_hears_of_a_page(store: Store) -> None:
    """A kept and a deleted page are told to the other hosts on the store."""
    host, other = store.open(), store.open()
    page = capture(host, "https://example.org/", "told", 1)
    assert told(other) == page
    host.ack("page.delete", pageId=page)
    assert told(other) == page
    assert host.refused("page.get", pageId=page)["code"] == "not_found"


def test_the_list_by_site_thread_and_page(store: Store) -> None:
    """Newest first; a site takes its subdomains and not its namesakes; pages of the list neither skip nor repeat."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    addresses = [
        "https://example.org/1",
        "https://sub.example.org/2",
        "https://badexample.org/3",
        "http://example.org/4",
    ]
    ids = [capture(host, url, url, at) for at, url in enumerate(addresses)]
    mine = capture(host, "file:///home/x.html", "mine", 9, threadId=thread)
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = host.query("page.list", limit=2, withTotal=True, **cursor)
        assert page["total"] == 5
        found += [one["id"] for one in page["pages"]]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert found == [mine, *ids[::-1]]
    for site in ("example.org", "https://www.example.org/elsewhere", "EXAMPLE.org"):
        assert [one["id"] for one in host.query("page.list", site=site)["pages"]] == [ids[3], ids[1], ids[0]]
    assert [one["id"] for one in host.query("page.list", site="sub.example.org")["pages"]] == [ids[1]]
    assert [one["id"] for one in host.query("page.list", threadId=thread)["pages"]] == [mine]
    assert host.query("page.list", site="%")["pages"] == []


@pytest.mark.parametrize("told", ["", "1", "1:", "9223372036854775808:{}", "-1:{}", "1e3:{}", "1:x", "\x00:{}"])
def test_a_cursor_that_this_list_did_not_give_is_refused(store: Store, told: str) -> None:
    """Any text may come as a cursor, also a number that no row holds: `invalid_command`, and never a fault of ours."""
    host = store.open()
    cursor = base64.urlsafe_b64encode(told.format(uuid.uuid4()).encode()).decode().rstrip("=")
    assert host.refused("page.list", cursor=cursor)["code"] == "invalid_command"


def test_a_page_needs_its_parts(store: Store) -> None:
    """A part that is not stored is `not_found`, one named twice `invalid_command`; nothing is kept then."""
    host = store.open()
    part = upload(host, b"part", **PARTS)
    unfinished = host.ack("attachment.begin", size=1, **PARTS)["attachmentId"]
    about = {"url": "https://example.org/", "title": "t", "capturedAt": 1}
    assert host.refused("page.capture", parts=[part, unfinished], **about)["code"] == "not_found"
    assert host.refused("page.capture", parts=[part, part], **about)["code"] == "invalid_command"
    assert host.query("page.list")["pages"] == []


def test_sites_that_are_never_captured(store: Store) -> None:
    """D12: the host too refuses a page of a site on the list, subdomains and ports included."""
    host = store.open()
    host.ack("settings.set", patch={"capture.blocked_sites": ["bank.example", "*.clinic.example"]})
    for url in ("https://bank.example/", "http://www.bank.example:81/x", "https://my.clinic.example/a"):
        refusal = host.refused("page.capture", url=url, title="t", capturedAt=1, parts=[])
        assert refusal["code"] == "needs_permission"
    capture(host, "https://notbank.example/", "t", 1)


def test_a_deleted_page_takes_its_own_parts(store: Store) -> None:
    """Deleting a page removes the parts that nothing else names; a part alone cannot be deleted from under it."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    own, named, shared = (upload(host, made(10, seed=n), **PARTS, threadId=thread) for n in range(3))
    payload = {"content": [{"type": "text", "text": "x"}], "attachmentIds": [named]}
    host.ack("node.append", threadId=thread, nodeType="user_message", payload=payload)
    page = capture(host, "https://example.org/", "one", 1, parts=[own, named, shared])
    other = capture(host, "https://example.org/", "two", 2, parts=[shared])
    refusal = host.refused("attachment.delete", attachmentId=own)
    assert refusal["code"] == "conflict"
    assert refusal["pageId"] == page
    host.ack("page.delete", pageId=page)
    left = {one["id"] for one in host.query("attachment.list")["attachments"]}
    assert left == {named, shared}
    host.ack("page.delete", pageId=other)
    assert {one["id"] for one in host.query("attachment.list")["attachments"]} == {named}


def test_a_page_outlives_its_thread(store: Store) -> None:
    """A kept page stays with its parts when its thread is purged."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    part = upload(host, b"part", **PARTS, threadId=thread)
    page = capture(host, "https://example.org/", "kept", 1, threadId=thread, parts=[part])
    host.ack("thread.delete", threadId=thread, purge=True)
    kept = host.query("page.get", pageId=page)["page"]
    assert "threadId" not in kept
    assert host.query("attachment.read", attachmentId=part, offset=0, length=9)["size"] == 4
