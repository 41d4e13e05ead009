"""Attachments that are kept: what each is, where it is named, and its end."""

import json
from typing import Any, NamedTuple

import msgspec

from sidekeep.model import mimes
from sidekeep.model.errors import Conflict, InvalidCommand, NotFound
from sidekeep.store import blobs
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)

_NO_CURSOR = 2**62


class Attachment(NamedTuple):
    """One row; `blob` is None once its bytes are gone."""

    k: int
    id: str
    thread: str | None
    blob: int | None
    state: str
    kind: str
    mime: str
    size: int
    sha256: str | None
    trust: str
    provenance: str
    pinned: int
    created_at: int
    source_ref: str | None
    refs: str | None
    meta: str | None

    @property
    def node_ids(self) -> list[str]:
        """The nodes that name it."""
        return list(json.loads(self.refs).get("nodeIds") or ()) if self.refs else []

    def shown(self) -> dict[str, Any]:
        """As lists have it (first document §2.3)."""
        shown: dict[str, Any] = {
            "id": self.id,
            "createdAt": self.created_at,
            "kind": self.kind,
            "mime": self.mime,
            "size": self.size,
            "sha256": self.sha256,
            "trust": self.trust,
            "provenance": self.provenance,
            "pinned": bool(self.pinned),
        }
        optional = {
            "threadId": self.thread,
            "sourceRef": self.source_ref,
            "refs": msgspec.Raw(self.refs.encode()) if self.refs else None,
            "meta": msgspec.Raw(self.meta.encode()) if self.meta else None,
            "evicted": True if self.state == "evicted" else None,
        }
        shown.update({name: value for name, value in optional.items() if value is not None})
        return shown


def find(tx: Tx, attachment_id: str) -> Attachment:
    """A finished attachment, evicted ones too. Raises NotFound."""
    row = tx.one(sql.find, (attachment_id,))
    if row is None or row[4] == "uploading":
        raise NotFound(f"No attachment {attachment_id}.")
    return Attachment._make(row)


def stored(tx: Tx, attachment_id: str) -> Attachment:
    """One whose bytes are here. Raises NotFound."""
    found = find(tx, attachment_id)
    if found.blob is None or found.state != "stored":
        raise NotFound("The bytes of this attachment were removed to save space; what it was is still listed.")
    return found


def is_pdf(tx: Tx, attachment_id: str) -> bool:
    """Do its bytes begin as a PDF does?"""
    found = stored(tx, attachment_id)
    if found.mime != mimes.PDF or found.blob is None:
        return False
    return mimes.sniffed(blobs.read(tx, found.blob, 0, mimes.SNIFFED_BYTES)) == mimes.PDF


def listing(tx: Tx, thread: int | None, kind: str | None, cursor: str | None, limit: int) -> dict[str, Any]:
    """A page of the list, newest first; those of threads in the trash are left out."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise InvalidCommand("cursor: not one that this list gave.")
    before = _NO_CURSOR if cursor is None else int(cursor)
    rows = [Attachment._make(row) for row in tx.all(sql.listing, (before, thread, kind, limit + 1))]
    shown = rows[:limit]
    return {
        "attachments": [row.shown() for row in shown],
        "cursor": str(shown[-1].k) if len(rows) > limit else None,
    }


def ids_in(value: Any, found: list[str]) -> None:
    """Every attachment that a payload names, in order."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "attachmentId" and isinstance(item, str):
                found.append(item)
            elif name == "attachmentIds" and isinstance(item, list):
                found.extend(one for one in item if isinstance(one, str))
            else:
                ids_in(item, found)
    elif isinstance(value, list):
        for item in value:
            ids_in(item, found)


def named_by(tx: Tx, node_id: str, payload: dict[str, Any]) -> None:
    """Remember that this node names them, so that their end can be marked on it."""
    named: list[str] = []
    ids_in(payload, named)
    for attachment_id in dict.fromkeys(named):
        row = tx.one(sql.refs, (attachment_id,))
        if row is None:
            continue
        key, text = row
        refs = json.loads(text) if text else {}
        nodes = refs.setdefault("nodeIds", [])
        if node_id not in nodes:
            nodes.append(node_id)
            tx.run(sql.set_refs, (dumps(refs), key))


def pin(tx: Tx, attachment_id: str, pinned: bool) -> None:
    tx.run(sql.pin, (int(pinned), find(tx, attachment_id).k))


def mark_nodes(tx: Tx, node_ids: list[str]) -> list[tuple[int, str]]:
    """Say of these nodes that something they name is gone; returns key and id of those it is news for."""
    return [(key, node_id) for key, node_id in tx.all(sql.mark_nodes, (json.dumps(node_ids),))]


def delete(tx: Tx, attachment_id: str) -> None:
    """Remove it; nodes that name it say so. Raises NotFound, and Conflict for a part of a kept page."""
    found = find(tx, attachment_id)
    page = tx.one(sql.page_of, (attachment_id,))
    if page is not None:
        raise Conflict("This is a part of a kept page; delete the page.", pageId=page[0])
    remove(tx, found)
    if found.mime == mimes.PDF:
        from sidekeep.store import texts

        texts.forget(tx, found)


def remove(tx: Tx, found: Attachment) -> None:
    """Remove a row, mark the nodes that name it, and let its bytes go when it was the last to name them."""
    for key, node_id in mark_nodes(tx, found.node_ids):
        thread = tx.thread_by_key(key >> 32)
        if thread is not None:
            tx.change("thread.node", thread.id, node_id, key & 0xFFFF_FFFF)
    tx.run(sql.remove, (found.k,))
    if found.blob is not None:
        blobs.drop_unused(tx, (found.blob,))
