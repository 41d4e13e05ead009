"""Attachments, captured pages, and how much room they take."""

from typing import Literal

from msgspec import UNSET, UnsetType

from sidekeep.model.entities.base import Out
from sidekeep.model.ops.files import AttachmentKind, AttachmentMeta, Cut
from sidekeep.model.payloads import Provenance, Trust


class AttachmentRefs(Out, kw_only=True):
    """What names an attachment."""

    node_ids: list[str] | UnsetType = UNSET
    run_ids: list[str] | UnsetType = UNSET
    plugin_id: str | UnsetType = UNSET


class Attachment(Out, kw_only=True):
    """An attachment without its bytes (first document, section 2.3)."""

    id: str
    thread_id: str | UnsetType = UNSET
    created_at: int
    kind: AttachmentKind
    mime: str
    size: int
    sha256: str
    trust: Trust | UnsetType = UNSET
    provenance: Provenance | UnsetType = UNSET
    source_ref: str | UnsetType = UNSET
    refs: AttachmentRefs | UnsetType = UNSET
    meta: AttachmentMeta | UnsetType = UNSET
    pinned: bool
    evicted: bool | UnsetType = UNSET


class Page(Out, kw_only=True):
    """A kept page; its parts are attachments."""

    id: str
    thread_id: str | UnsetType = UNSET
    url: str
    title: str
    captured_at: int
    digest: str
    parts: list[str]
    text: str | UnsetType = UNSET
    selection: str | UnsetType = UNSET
    cut: Cut | UnsetType = UNSET


class PlaceWarning(Out, kw_only=True):
    """Why the state folder's place endangers what is kept there."""

    code: Literal["network_folder", "synced_folder"]
    message: str


class StorageUse(Out, kw_only=True):
    """How much is kept; `warn` when the user should look."""

    attachments_bytes: int
    attachments_limit: int
    evictable_bytes: int
    database_bytes: int
    blobs: int
    warn: bool
    warnings: list[PlaceWarning] | UnsetType = UNSET


class Backup(Out, kw_only=True):
    """A backup that is there."""

    id: str
    created_at: int
    size: int
    reason: str
    verified: bool
