"""What bytes are: their type is read from them where they show it, and binary data never passes for text (E61)."""

import pytest

from sidekeep.model.mimes import corrected, is_text
from support.stores import Store
from support.uploading import made, upload

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8 "


@pytest.mark.parametrize(
    ("announced", "head", "mime"),
    [
        ("image/jpeg", PNG, "image/png"),
        ("text/plain", b"%PDF-1.7\n", "application/pdf"),
        ("image/png", WEBP, "image/webp"),
        ("application/octet-stream", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK\x03\x04", None),
        ("text/plain", b"plain words", None),
        ("image/png", b"not a picture", None),
        ("image/png", b"", None),
    ],
)
def test_a_type_is_what_the_bytes_show(announced: str, head: bytes, mime: str | None) -> None:
    """A known signature stands against what was announced; without one the announcement stands."""
    assert corrected(announced, head) == (mime or announced)


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"words", True), ("Wörter 語".encode(), True), (b"", True), (b"a\0b", False), (PNG, False), (b"%PDF-1.4", False)],
)
def test_binary_is_no_text(data: bytes, text: bool) -> None:
    assert is_text(data) is text


def test_the_kept_type_is_the_shown_one(store: Store) -> None:
    """An image announced under another type is kept, listed and read under its own, also when its bytes were here."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    data = PNG + made(300_000)
    first = upload(host, data, threadId=thread, kind="image", mime="image/jpeg")
    upload(host, data, threadId=thread, kind="image", mime="text/html")
    assert {one["mime"] for one in host.query("attachment.list", threadId=thread)["attachments"]} == {"image/png"}
    assert host.query("attachment.read", attachmentId=first, offset=0, length=8)["mime"] == "image/png"
