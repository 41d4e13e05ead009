"""PDFs: their text is read in a process of its own and goes to the model and into the search, never their bytes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.hostclient import HostClient
from support.pdfs import pdf
from support.stores import Store
from support.uploading import read_back, upload

MINE = {"kind": "file", "mime": "application/pdf", "meta": {"title": "report.pdf"}}


def read(host: HostClient, attachment: str) -> dict[str, Any]:
    """What `job.done` says of the file's text."""
    done = host.event("job.done", where=lambda event: event.get("data", {}).get("attachmentId") == attachment)
    assert done["state"] == "done"
    return dict(done["data"])


def test_the_text_of_a_pdf_is_kept_beside_it(running_store: Store) -> None:
    """Page by page, with trust, provenance and title of the file; announced under a wrong type too."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    data = pdf("First page\nsecond line", "", "Third page")
    source = upload(host, data, threadId=thread, **{**MINE, "mime": "application/octet-stream"})
    report = read(host, source)
    assert (report["pages"], "cut" in report) == (3, False)
    assert read_back(host, report["textAttachmentId"]).decode() == "First page\nsecond line\n\nThird page"
    listed = {one["id"]: one for one in host.query("attachment.list", threadId=thread)["attachments"]}
    text = listed[report["textAttachmentId"]]
    assert listed[source]["mime"] == "application/pdf"
    assert (text["kind"], text["mime"], text["provenance"], text["trust"]) == (
        "page_text",
        "text/plain",
        "user",
        "trusted",
    )
    assert text["meta"] == {"title": "report.pdf"}
    assert text["sourceRef"] == f"sha256:{listed[source]['sha256']}"


def test_a_model_reads_the_text_between_fences(running_store: Store) -> None:
    """A turn with an attached PDF is answered from its text."""
    host = running_store.open()
    host.ack("settings.set", patch={"models.default": {"connectionId": "extract", "modelId": "extract"}})
    thread = host.ack("thread.create")["threadId"]
    source = upload(host, pdf("The harbour of Lerwick opens at seven."), threadId=thread, **MINE)
    read(host, source)
    host.query("thread.subscribe", threadId=thread)
    question = {"content": [{"type": "text", "text": "When does the harbour open?"}], "attachmentIds": [source]}
    host.ack("turn.submit", threadId=thread, input=question)
    host.event("turn.complete", timeout=60)
    answer = host.query("thread.subscribe", threadId=thread)["nodes"][-1]
    assert answer["type"] == "assistant_message"
    assert "opens at seven" in answer["payload"]["content"][0]["text"]


def test_a_captured_pdf_is_found(running_store: Store) -> None:
    """A page whose parts are a PDF and its text is found by the text."""
    host = running_store.open()
    captured = {"kind": "page_snapshot", "mime": "application/pdf", "provenance": "page", "trust": "untrusted"}
    source = upload(host, pdf("Quicksilver is a metal"), **captured)
    text = read(host, source)["textAttachmentId"]
    about = {"url": "https://e.example/a.pdf", "title": "a.pdf", "capturedAt": 1}
    page = host.ack("page.capture", parts=[source, text], **about)["pageId"]
    (hit,) = host.query("thread.search", query="quicksilver")["hits"]
    assert hit["pageId"] == page


def test_scanned_pages_have_no_text_and_say_so(running_store: Store) -> None:
    """E61: a PDF without a text layer is reported as such, and no empty text is kept."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    source = upload(host, pdf("", ""), threadId=thread, **MINE)
    assert read(host, source) == {"attachmentId": source, "pages": 2, "characters": 0}
    assert len(host.query("attachment.list", threadId=thread)["attachments"]) == 1


@pytest.mark.parametrize(
    "data", [b"%PDF-1.4\nnot a document at all", b"%PDF-1.7\n" + b"<<" * 200_000, pdf("cut")[:200]]
)
def test_a_hostile_file_fails_alone(running_store: Store, data: bytes) -> None:
    """Bytes that no reader understands fail their own job with a reason; the runner goes on with the next."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    upload(host, data, threadId=thread, **MINE)
    failed = host.event("job.done", timeout=120)
    assert (failed["state"], failed["code"]) == ("failed", "invalid_command")
    assert failed["message"].startswith("The PDF could not be read: ")
    source = upload(host, pdf("Goes on"), threadId=thread, **MINE)
    assert read(host, source)["pages"] == 1


def test_the_reading_process_is_bounded(tmp_path: Path) -> None:
    """It cannot take more than 1 GiB of memory, write a file, or outlive whoever started it."""
    start = "import os; from sidekeep.jobs.pdf_child import bound; bound(); "
    for deed in ("bytearray(2**31)", f"os.write(os.open({str(tmp_path / 'x')!r}, os.O_CREAT | os.O_WRONLY), b'x')"):
        done = subprocess.run([sys.executable, "-c", start + deed], capture_output=True, text=True, check=False)
        assert done.returncode != 0, deed
    slow = "from sidekeep.jobs import pdf_child; import threading; "
    slow += "threading.Thread(target=pdf_child.end_with_input).start(); threading.Event().wait()"
    child = subprocess.Popen([sys.executable, "-c", slow], stdin=subprocess.PIPE)
    child.communicate(timeout=20)
    assert child.returncode == 0


def test_what_only_claims_to_be_a_pdf_starts_nothing(store: Store) -> None:
    """A file that is announced as a PDF and does not begin as one is kept and not read."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    upload(host, b"plain words", threadId=thread, **MINE)
    assert host.query("job.list")["jobs"] == []


def test_each_thread_has_the_text_of_its_own(running_store: Store) -> None:
    """The same file in another thread, and in a fork, has its text there; it goes with the file, and not before."""
    host = running_store.open()
    one, two = (host.ack("thread.create")["threadId"] for _ in range(2))
    data = pdf("Shared words")
    first = upload(host, data, threadId=one, **MINE)
    read(host, first)
    payload = {"content": [{"type": "text", "text": "x"}], "attachmentIds": [first]}
    node = host.ack("node.append", threadId=one, nodeType="user_message", payload=payload)["nodeId"]
    fork = host.ack("thread.fork", threadId=one, atNodeId=node)["threadId"]
    second = upload(host, data, threadId=two, **MINE)
    assert read(host, second)["characters"] == len("Shared words")
    host.ack("thread.delete", threadId=one, purge=True)

    def kinds(thread: str) -> list[str]:
        return sorted(one["kind"] for one in host.query("attachment.list", threadId=thread)["attachments"])

    assert kinds(two) == kinds(fork) == ["file", "page_text"]
    third = upload(host, data, threadId=two, **MINE)
    read(host, third)
    host.ack("attachment.delete", attachmentId=second)
    assert kinds(two) == ["file", "page_text"]
    host.ack("attachment.delete", attachmentId=third)
    assert kinds(two) == []
