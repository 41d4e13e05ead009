"""`attachment.*`: uploads in chunks, reading in ranges, the list, pinning and the end of attachments."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import Conflict, InvalidCommand, NotFound
from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.model.ops.files import (
    AttachmentAbort,
    AttachmentBegin,
    AttachmentChunk,
    AttachmentCommit,
    AttachmentDelete,
    AttachmentList,
    AttachmentPin,
    AttachmentRead,
    AttachmentStatus,
)
from sidekeep.store import attachments, blobs, jobs, threads, uploads, used
from sidekeep.store.tx import Tx

#: What may belong to no thread: parts of pages, and files that are read and not shown.
_PARTS = frozenset(("page_snapshot", "screenshot", "page_text"))
_APART = frozenset(("page", "import", "plugin"))


def begin(tx: Tx, op: AttachmentBegin, ctx: Context) -> dict[str, Any]:
    thread_id = given(op.thread_id)
    if thread_id is None and op.kind not in _PARTS and op.provenance not in _APART:
        raise InvalidCommand("threadId: may be absent only for parts of a page.")
    thread = None if thread_id is None else threads.live(tx, thread_id).k
    attachment_id, have = uploads.begin(tx, thread, ctx.plain)
    return {"attachmentId": attachment_id, "chunkBytes": CHUNK_BYTES, "have": have}


def chunk(tx: Tx, op: AttachmentChunk, _ctx: Context) -> dict[str, Any]:
    return {"received": uploads.receive(tx, op.attachment_id, op.index, op.data)}


def status(tx: Tx, op: AttachmentStatus, _ctx: Context) -> dict[str, Any]:
    upload = uploads.find(tx, op.attachment_id)
    return {"received": blobs.ranges(tx, upload.blob)}


def commit(tx: Tx, op: AttachmentCommit, ctx: Context) -> dict[str, Any]:
    sha256, size = uploads.keep(tx, op.attachment_id)
    if attachments.is_pdf(tx, op.attachment_id):
        # Reading it is no work for a host: the runner does it, in a process with limits.
        jobs.admit(tx, "attachment.text", {"attachmentId": op.attachment_id}, ctx.client_id)
        ctx.work = True
    return {"sha256": sha256, "size": size}


def abort(tx: Tx, op: AttachmentAbort, _ctx: Context) -> dict[str, Any]:
    try:
        uploads.give_up(tx, op.attachment_id)
    except NotFound:
        attachments.find(tx, op.attachment_id)
        raise Conflict("This upload was committed; attachment.delete removes it.") from None
    return {}


def delete(tx: Tx, op: AttachmentDelete, _ctx: Context) -> dict[str, Any]:
    attachments.delete(tx, op.attachment_id)
    return {}


def read(tx: Tx, op: AttachmentRead, _ctx: Context) -> dict[str, Any]:
    found = attachments.stored(tx, op.attachment_id)
    assert found.blob is not None
    assert found.sha256 is not None
    data = blobs.read(tx, found.blob, op.offset, op.length) if op.offset < found.size else b""
    used.note(found.sha256, tx.now)
    return {
        "data": data,
        "offset": op.offset,
        "eof": op.offset + len(data) >= found.size,
        "size": found.size,
        "sha256": found.sha256,
        "mime": found.mime,
    }


def listing(tx: Tx, op: AttachmentList, _ctx: Context) -> dict[str, Any]:
    thread_id = given(op.thread_id)
    thread = None if thread_id is None else threads.live(tx, thread_id).k
    return attachments.listing(tx, thread, given(op.kind), given(op.cursor), op.limit)


def pin(tx: Tx, op: AttachmentPin, _ctx: Context) -> dict[str, Any]:
    attachments.pin(tx, op.attachment_id, op.pinned)
    return {}
