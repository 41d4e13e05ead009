"""Ops on attachments and captured pages."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.limits import LIST_DEFAULT, READ_BYTES
from sidekeep.model.ops.base import Cursor, Limit, Op
from sidekeep.model.payloads import Count, Id, Millis, Provenance, Sha256, Strict, Trust

AttachmentKind = Literal["image", "file", "page_snapshot", "screenshot", "page_text"]


class AttachmentMeta(Strict, kw_only=True):
    """Where an attachment comes from and how large it is to look at."""

    url: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    w: Count | UnsetType = UNSET
    h: Count | UnsetType = UNSET


class AttachmentBegin(Op, tag="attachment.begin", kw_only=True):
    """Announces an upload; without `thread_id` only for parts of a page."""

    thread_id: Id | UnsetType = UNSET
    kind: AttachmentKind
    mime: Annotated[str, Meta(max_length=255)]
    size: Count
    sha256: Sha256 | UnsetType = UNSET
    provenance: Provenance
    trust: Trust
    source_ref: str | UnsetType = UNSET
    meta: AttachmentMeta | UnsetType = UNSET


class AttachmentChunk(Op, tag="attachment.chunk", kw_only=True):
    """A piece of an upload; base64 on the wire."""

    attachment_id: Id
    index: Count
    data: bytes


decode_chunk = msgspec.json.Decoder(AttachmentChunk).decode
"""From a frame, the base64 decoded in the same pass as the JSON."""


class AttachmentStatus(Op, tag="attachment.status", kw_only=True):
    """Which pieces are here, to resume."""

    attachment_id: Id


class AttachmentCommit(Op, tag="attachment.commit", kw_only=True):
    """Checks the whole and keeps it."""

    attachment_id: Id


class AttachmentAbort(Op, tag="attachment.abort", kw_only=True):
    """Gives an upload up."""

    attachment_id: Id


class AttachmentDelete(Op, tag="attachment.delete", kw_only=True):
    """Deletes an attachment; nodes that name it say so."""

    attachment_id: Id


class AttachmentRead(Op, tag="attachment.read", kw_only=True):
    """A piece of an attachment's bytes."""

    attachment_id: Id
    offset: Count
    length: Annotated[int, Meta(ge=1, le=READ_BYTES)]


class AttachmentList(Op, tag="attachment.list", kw_only=True):
    """Attachments, newest first."""

    thread_id: Id | UnsetType = UNSET
    kind: AttachmentKind | UnsetType = UNSET
    cursor: Cursor | UnsetType = UNSET
    limit: Limit = LIST_DEFAULT


class AttachmentPin(Op, tag="attachment.pin", kw_only=True):
    """Keeps an attachment out of the quota's reach, or no longer."""

    attachment_id: Id
    pinned: bool


class Cut(Strict, kw_only=True):
    """What of a page was not kept."""

    reason: str
    kept_bytes: Count
    total_bytes: Count | UnsetType = UNSET


class PageCapture(Op, tag="page.capture", kw_only=True):
    """Keeps a page whose parts were uploaded."""

    thread_id: Id | UnsetType = UNSET
    url: str
    title: str
    captured_at: Millis
    parts: list[Id]
    text: str | UnsetType = UNSET
    selection: str | UnsetType = UNSET
    cut: Cut | UnsetType = UNSET


class PageList(Op, tag="page.list", kw_only=True):
    """Kept pages, newest first."""

    limit: Limit = LIST_DEFAULT
    cursor: Cursor | UnsetType = UNSET
    thread_id: Id | UnsetType = UNSET
    site: str | UnsetType = UNSET
    with_total: bool = False


class PageGet(Op, tag="page.get", kw_only=True):
    """A kept page with its parts."""

    page_id: Id


class PageDelete(Op, tag="page.delete", kw_only=True):
    """Deletes a kept page."""

    page_id: Id


class StorageStatus(Op, tag="storage.status", kw_only=True):
    """How much is kept and how much may be."""
