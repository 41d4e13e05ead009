"""The job `attachment.text`: reads the text of a PDF in a process of its own and keeps it beside the file.

The bytes are a stranger's: the process has limits of memory and time, and what it had read when it met one is kept and
said to be cut. The report is `{"attachmentId", "pages", "characters", "textAttachmentId"?, "cut"?: {"reason"}}`; a PDF
without a text layer (scanned pages) has no `textAttachmentId`.
"""

import asyncio
import contextlib
import json
import os
import sys
from functools import partial
from typing import Any

from sidekeep.jobs.work import Work
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.limits import CHUNK_BYTES, MIB
from sidekeep.store import attachments, blobs, texts
from sidekeep.store.tx import Tx

SECONDS = 90.0
TEXT_CHARACTERS = 2_000_000
_LINE_BYTES = 8 * MIB
_START = "import sys; sys.path[:] = sys.argv[1:]; from sidekeep.jobs.pdf_child import main; main()"


async def read_text(work: Work) -> dict[str, Any]:
    """The report. Raises NotFound for a file that is gone, InvalidCommand for one that is no PDF that can be read."""
    source = str(work.params["attachmentId"])
    found = await work.step("begun", done=0, total=1, write=lambda tx: texts.there(tx, source))
    if found is not None:
        text_id, size = found
        return {"attachmentId": source, "textAttachmentId": text_id, "characters": size}
    reading = _Reading()
    try:
        async with asyncio.timeout(SECONDS):
            await _through_child(work, source, reading)
    except TimeoutError:
        reading.cut = f"it took longer than {SECONDS:.0f} seconds"
    if not reading.pages and reading.fault:
        raise InvalidCommand(f"The PDF could not be read: {reading.fault}.")
    text = "\n\n".join(page for page in reading.pages if page)
    report: dict[str, Any] = {"attachmentId": source, "pages": len(reading.pages), "characters": len(text)}
    if reading.cut:
        report["cut"] = {"reason": reading.cut}
    if text.strip():
        data = text.encode("utf-8", "replace")
        report["textAttachmentId"] = await work.step(
            "kept", done=1, total=1, write=lambda tx: texts.keep(tx, source, data)
        )
    return report


class _Reading:
    """What has come so far; `cut` and `fault` say why not all, or nothing, came."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self.characters = 0
        self.cut = ""
        self.fault = ""

    def take(self, line: dict[str, Any]) -> bool:
        """Whether more may come."""
        if "pages" in line:
            return False
        if "page" not in line:
            self.fault = str(line.get("fault") or "it is damaged")
            return False
        if line.get("fault"):
            self.cut = "some pages could not be read"
        text = str(line["text"])[: TEXT_CHARACTERS - self.characters]
        self.pages.append(text.strip())
        self.characters += len(text)
        if self.characters >= TEXT_CHARACTERS:
            self.cut = f"only its first {TEXT_CHARACTERS} characters were kept"
            return False
        return True


async def _through_child(work: Work, source: str, reading: _Reading) -> None:
    paths = [path for path in sys.path if os.path.isabs(path)]
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    if root := os.environ.get("SYSTEMROOT"):
        environment["SYSTEMROOT"] = root
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-IS", "-c", _START, *paths),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
        limit=_LINE_BYTES,
    )
    try:
        await _feed(work, source, child)
        await _listen(child, reading)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def _feed(work: Work, source: str, child: asyncio.subprocess.Process) -> None:
    """Its size and its bytes, a chunk in memory at a time. The pipe stays open: its end would be the child's."""
    assert child.stdin is not None
    file = await work.read(lambda tx: attachments.stored(tx, source))
    if file.blob is None:
        return
    try:
        child.stdin.write(b"%d\n" % file.size)
        for offset in range(0, file.size, CHUNK_BYTES):
            child.stdin.write(await work.read(partial(_piece, blob=file.blob, offset=offset)))
            await child.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        # It has ended before it had read all: what it said is listened to.
        return


def _piece(tx: Tx, blob: int, offset: int) -> bytes:
    return blobs.read(tx, blob, offset, CHUNK_BYTES)


async def _listen(child: asyncio.subprocess.Process, reading: _Reading) -> None:
    assert child.stdout is not None
    while True:
        try:
            line = await child.stdout.readline()
        except ValueError:
            reading.cut = "one page holds too much text"
            return
        if not line.endswith(b"\n"):
            # It ended in the middle: a limit, or bytes that no reader of PDF understands.
            if reading.pages:
                reading.cut = "the rest could not be read within the limits of memory and time"
            else:
                reading.fault = "it is damaged, or too large to read within the limits of memory and time"
            return
        if not reading.take(json.loads(line)):
            return
