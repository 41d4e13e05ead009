"""Uploads: what was acknowledged is there, what was given up leaves nothing, whatever order or death."""

import base64
import hashlib
import random

import pytest

from support.stores import Store
from support.uploading import CHUNK, announcement, begin, chunks, made, read_back, upload


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17])
def test_every_size_comes_back_as_it_went(store: Store, size: int) -> None:
    """Bytes of any length are stored, listed with size and digest, and read back in ranges of any length."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    data = made(size)
    attachment = upload(host, data, threadId=thread, mime="text/x-test", meta={"title": "notes", "w": 3})
    assert read_back(host, attachment) == data
    assert read_back(host, attachment, step=100_003) == data
    (listed,) = host.query("attachment.list", threadId=thread)["attachments"]
    assert listed["id"] == attachment
    assert (listed["size"], listed["sha256"]) == (size, hashlib.sha256(data).hexdigest())
    assert (listed["threadId"], listed["mime"], listed["pinned"]) == (thread, "text/x-test", False)
    assert listed["meta"] == {"title": "notes", "w": 3}
    assert "evicted" not in listed


def test_chunks_in_any_order_and_twice(store: Store) -> None:
    """Chunks may come in any order and again; `attachment.status` names what is here; the digest is the whole's."""
    host = store.open()
    data = made(9 * CHUNK + 5)
    attachment = begin(host, data, kind="page_snapshot", provenance="page")
    pieces = list(chunks(data)) * 2
    random.Random(7).shuffle(pieces)
    for index, text in pieces[:5]:
        host.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    here = sorted({index for index, _ in pieces[:5]})
    told = host.query("attachment.status", attachmentId=attachment)["received"]
    assert [i for first, last in told for i in range(first, last + 1)] == here
    for index, text in pieces[5:]:
        last = host.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    assert last["received"] == 10
    kept = host.ack("attachment.commit", attachmentId=attachment)
    assert kept["sha256"] == hashlib.sha256(data).hexdigest()
    assert read_back(host, attachment) == data


def test_the_last_bytes_sent_for_a_chunk_stand(store: Store) -> None:
    """A chunk that was sent wrong and then right counts as it came last, for the bytes and for the digest."""
    host = store.open()
    data, wrong = made(3 * CHUNK), made(CHUNK, seed=1)
    attachment = begin(host, data, kind="page_snapshot", provenance="page", sha256=hashlib.sha256(data).hexdigest())
    host.ack("attachment.chunk", attachmentId=attachment, index=0, data=base64.b64encode(wrong).decode())
    for index, text in chunks(data):
        host.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    host.ack("attachment.commit", attachmentId=attachment)
    assert read_back(host, attachment) == data


def test_resumes_after_the_host_was_killed(store: Store) -> None:
    """After kill -9 another host knows what is here, takes the rest, and its digest is the whole's."""
    host = store.open()
    data = made(20 * CHUNK + 1)
    attachment = begin(host, data, kind="screenshot", provenance="page")
    pieces = list(chunks(data))
    for index, text in pieces[:13]:
        host.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    host.kill()
    again = store.open()
    assert again.query("attachment.status", attachmentId=attachment)["received"] == [[0, 12]]
    assert again.query("attachment.list")["attachments"] == []
    for index, text in pieces[13:]:
        again.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    assert again.ack("attachment.commit", attachmentId=attachment)["sha256"] == hashlib.sha256(data).hexdigest()
    assert read_back(again, attachment) == data


def test_a_gap_keeps_the_upload(store: Store) -> None:
    """A commit before all chunks are here is a `conflict`; the upload goes on."""
    host = store.open()
    data = made(2 * CHUNK)
    attachment = begin(host, data, kind="page_text", provenance="page")
    (_, first), (_, second) = chunks(data)
    host.ack("attachment.chunk", attachmentId=attachment, index=1, data=second)
    assert host.refused("attachment.commit", attachmentId=attachment)["code"] == "conflict"
    host.ack("attachment.chunk", attachmentId=attachment, index=0, data=first)
    host.ack("attachment.commit", attachmentId=attachment)


def test_another_digest_removes_the_upload_with_its_receipt(store: Store) -> None:
    """A wrong digest is refused, keeps that answer as its receipt, and leaves neither upload nor bytes."""
    host = store.open()
    data = made(CHUNK + 1)
    attachment = begin(host, data, kind="page_text", provenance="page", sha256="0" * 64)
    for index, text in chunks(data):
        host.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    refusal = host.refused("attachment.commit", attachmentId=attachment)
    assert refusal["code"] == "digest_mismatch"
    receipt = host.query("receipt.get", of={"clientId": host.client_id, "submissionId": refusal["submissionId"]})
    assert receipt == {"status": "rejected", "response": refusal}
    assert host.refused("attachment.status", attachmentId=attachment)["code"] == "not_found"
    assert host.query("attachment.list")["attachments"] == []
    assert host.query("storage.status")["blobs"] == 0


@pytest.mark.parametrize(
    ("index", "length", "code"),
    [
        (0, CHUNK - 1, "invalid_command"),
        (0, CHUNK + 1, "invalid_command"),
        (1, 11, "too_large"),
        (1, 9, "invalid_command"),
        (1, 0, "invalid_command"),
        (2, 1, "too_large"),
        (2**40, 1, "too_large"),
    ],
)
def test_lies_about_size_are_refused(store: Store, index: int, length: int, code: str) -> None:
    """A chunk of another length than its place has is refused and nothing of it stays."""
    host = store.open()
    attachment = begin(host, made(CHUNK + 10), kind="page_text", provenance="page")
    data = base64.b64encode(bytes(length)).decode()
    assert host.refused("attachment.chunk", attachmentId=attachment, index=index, data=data)["code"] == code
    assert host.query("attachment.status", attachmentId=attachment)["received"] == []


def test_what_may_be_announced(store: Store) -> None:
    """64 MiB at most; a user's file needs its thread, and the thread has to live."""
    host = store.open()
    host.ack("attachment.begin", **announcement(b"", kind="page_text", size=64 * 1024 * 1024))
    over = announcement(b"", kind="page_text", size=64 * 1024 * 1024 + 1)
    assert host.refused("attachment.begin", **over)["code"] == "too_large"
    assert host.refused("attachment.begin", **announcement(b"x"))["code"] == "invalid_command"
    thread = host.ack("thread.create")["threadId"]
    host.ack("thread.delete", threadId=thread)
    assert host.refused("attachment.begin", **announcement(b"x", threadId=thread))["code"] == "not_found"


def test_an_abort_leaves_nothing(store: Store) -> None:
    """After an abort the id is unknown and its bytes are freed; a finished attachment is not aborted."""
    host = store.open()
    data = made(2 * CHUNK)
    attachment = begin(host, data, kind="page_text", provenance="page")
    for index, text in chunks(data):
        host.ack("attachment.chunk", attachmentId=attachment, index=index, data=text)
    host.ack("attachment.abort", attachmentId=attachment)
    assert host.refused("attachment.commit", attachmentId=attachment)["code"] == "not_found"
    assert host.refused("attachment.abort", attachmentId=attachment)["code"] == "not_found"
    kept = upload(host, data, kind="page_text", provenance="page")
    assert host.refused("attachment.abort", attachmentId=kept)["code"] == "conflict"
    assert read_back(host, kept) == data


def test_bytes_are_stored_once(store: Store) -> None:
    """E51: the same bytes are stored once and counted once; `have` says that they are here, by digest and size."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    data = made(2 * CHUNK)
    digest = hashlib.sha256(data).hexdigest()
    first = upload(host, data, threadId=thread)
    second = upload(host, data, threadId=thread)  # not announced by digest: sent again
    announced = host.ack("attachment.begin", **announcement(data, threadId=thread, sha256=digest))
    assert announced["have"] is True
    third = announced["attachmentId"]
    assert host.ack("attachment.commit", attachmentId=third)["sha256"] == digest
    other = announcement(data, threadId=thread, sha256=digest, size=len(data) - 1)
    assert host.ack("attachment.begin", **other)["have"] is False
    use = host.query("storage.status")
    assert (use["blobs"], use["attachmentsBytes"]) == (1, len(data))
    for attachment in (first, second):
        host.ack("attachment.delete", attachmentId=attachment)
        assert host.refused("attachment.read", attachmentId=attachment, offset=0, length=1)["code"] == "not_found"
    assert read_back(host, third) == data
    host.ack("attachment.delete", attachmentId=third)
    assert host.query("storage.status")["blobs"] == 0


def test_a_command_again_is_answered_once_done(store: Store) -> None:
    """E34: chunk and commit sent again, also to another host, have the same answer; another payload is refused."""
    host = store.open()
    data = made(CHUNK)
    ((_, text),) = chunks(data)
    attachment = begin(host, data, kind="page_text", provenance="page")
    chunk = {"attachmentId": attachment, "index": 0, "data": text}
    first = host.ack("attachment.chunk", **chunk)
    commit = host.ack("attachment.commit", attachmentId=attachment)
    other = store.open(client_id=host.client_id)
    assert other.ack("attachment.chunk", submissionId=first["submissionId"], **chunk) == first
    assert other.ack("attachment.commit", submissionId=commit["submissionId"], attachmentId=attachment) == commit
    changed = {**chunk, "data": base64.b64encode(made(CHUNK, seed=2)).decode()}
    assert other.refused("attachment.chunk", submissionId=first["submissionId"], **changed)["code"] == "invalid_command"
    assert read_back(other, attachment) == data


def test_reading_past_the_end(store: Store) -> None:
    """A range that begins at or after the end is empty and says `eof`."""
    host = store.open()
    attachment = upload(host, b"four", kind="page_text", provenance="page")
    for offset in (4, 5, 10**12):
        part = host.query("attachment.read", attachmentId=attachment, offset=offset, length=10)
        assert (part["data"], part["eof"], part["size"]) == ("", True, 4)


def test_pages_of_the_list(store: Store) -> None:
    """The list comes newest first, by kind and thread, in pages that neither skip nor repeat."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    made_ids = [upload(host, made(10, seed=n), threadId=thread, kind=("file", "image")[n % 2]) for n in range(7)]
    upload(host, made(10, seed=99), kind="page_text", provenance="page")
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = host.query("attachment.list", threadId=thread, limit=3, **cursor)
        found += [one["id"] for one in page["attachments"]]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert found == made_ids[::-1]
    images = host.query("attachment.list", threadId=thread, kind="image")["attachments"]
    assert [one["id"] for one in images] == [made_ids[n] for n in (5, 3, 1)]
    assert host.refused("attachment.list", cursor="nonsense")["code"] == "invalid_command"


def test_a_deleted_one_is_said_of_the_messages_that_name_it(store: Store) -> None:
    """Nodes that name a deleted attachment become `evicted`, and their followers hear it."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    attachment = upload(host, b"picture", threadId=thread, kind="image", mime="image/png")
    payload = {
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "attachmentId": attachment, "mime": "image/png"},
        ]
    }
    node = host.ack("node.append", threadId=thread, nodeType="user_message", payload=payload)["nodeId"]
    (listed,) = host.query("attachment.list", threadId=thread)["attachments"]
    assert listed["refs"] == {"nodeIds": [node]}
    host.query("thread.subscribe", threadId=thread)
    host.ack("attachment.delete", attachmentId=attachment)
    told = host.event("thread.node", where=lambda event: event["node"]["id"] == node)
    assert told["node"]["evicted"] is True
    (shown,) = host.query("thread.subscribe", threadId=thread)["nodes"]
    assert shown["evicted"] is True
