"""Uploads as a panel does them: announced, sent in chunks, committed."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from support.hostclient import HostClient

CHUNK = 256 * 1024


def made(size: int, seed: int = 0) -> bytes:
    """Bytes that look like nothing else: the same for the same size and seed."""
    blocks = -(-size // 32)
    return b"".join(hashlib.sha256(f"{seed}:{i}".encode()).digest() for i in range(blocks))[:size]


def chunks(data: bytes) -> Iterator[tuple[int, str]]:
    """(index, base64) of each chunk."""
    for index in range(-(-len(data) // CHUNK)):
        yield index, base64.b64encode(data[index * CHUNK : (index + 1) * CHUNK]).decode()


def announcement(data: bytes, **members: Any) -> dict[str, Any]:
    """The members of `attachment.begin`: a user's file unless said otherwise."""
    return {
        "kind": "file",
        "mime": "application/octet-stream",
        "size": len(data),
        "provenance": "user",
        "trust": "trusted",
        **members,
    }


def begin(host: HostClient, data: bytes, **members: Any) -> str:
    """Announces an upload; its id."""
    return str(host.ack("attachment.begin", **announcement(data, **members))["attachmentId"])


def upload(host: HostClient, data: bytes, **members: Any) -> str:
    """A whole upload, its chunks in flight together; the attachment's id."""
    started = host.ack("attachment.begin", **announcement(data, **members))
    attachment = str(started["attachmentId"])
    if not started["have"]:
        sent = [
            host.send("attachment.chunk", attachmentId=attachment, index=index, data=text)
            for index, text in chunks(data)
        ]
        for submission in sent:
            answer = host.answer(submission)
            assert answer["type"] == "command.ack", answer
    kept = host.ack("attachment.commit", attachmentId=attachment)
    assert kept["sha256"] == hashlib.sha256(data).hexdigest()
    return attachment


def read_back(host: HostClient, attachment: str, step: int = 512 * 1024) -> bytes:
    """All its bytes, by ranges."""
    found = b""
    while True:
        part = host.query("attachment.read", attachmentId=attachment, offset=len(found), length=step)
        assert part["offset"] == len(found)
        found += base64.b64decode(part["data"])
        if part["eof"]:
            return found
