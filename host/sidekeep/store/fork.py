"""Copies a path into another thread under new ids; bytes of attachments are shared, not copied."""

from typing import Any

import msgspec

from sidekeep.model import mimes
from sidekeep.store import texts, tree
from sidekeep.store.damage import readable
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tree import Node
from sidekeep.store.tx import Tx


def copy_path(tx: Tx, source: ThreadRow, at: Node, target: ThreadRow) -> None:
    """Copy root … `at`, without tombstones; ids of nodes and attachments inside payloads are rewritten."""
    path = [readable(node) for node in tree.walk_up(tx, at.k, source.next_seq) if not node.deleted][::-1]
    new_ids = {node.id: tx.new_id() for node in path}
    payloads = [msgspec.json.decode(node.payload) for node in path]
    new_ids.update(_copy_attachments(tx, source, target, payloads, new_ids))
    parent: int | None = None
    for node, payload in zip(path, payloads, strict=True):
        copied = tree.append(
            tx, target, parent, node.type, _rewrite(payload, new_ids), node_id=new_ids[node.id], ts=node.ts
        )
        if node.evicted:
            tx.run("UPDATE nodes SET evicted = 1 WHERE k = ?", (copied.k,))
        parent = copied.k


def _named(value: Any, found: set[str]) -> None:
    """Every text that may be an id, anywhere in a payload."""
    if isinstance(value, str):
        if len(value) == 36:
            found.add(value)
    elif isinstance(value, dict):
        for item in value.values():
            _named(item, found)
    elif isinstance(value, list):
        for item in value:
            _named(item, found)


def _copy_attachments(
    tx: Tx, source: ThreadRow, target: ThreadRow, payloads: list[Any], node_ids: dict[str, str]
) -> dict[str, str]:
    named: set[str] = set()
    for payload in payloads:
        _named(payload, named)
    copies = {}
    for attachment_id in sorted(named):
        row = tx.one(
            "SELECT refs, mime, sha256 FROM attachments WHERE id = ? AND thread = ?", (attachment_id, source.k)
        )
        if row is None:
            continue
        copies[attachment_id] = new_id = tx.new_id()
        if row[1] == mimes.PDF:
            texts.copy(tx, row[2], source.k, target.k)
        refs = msgspec.json.decode(row[0]) if row[0] else {}
        if refs.get("nodeIds"):
            refs["nodeIds"] = [node_ids[node] for node in refs["nodeIds"] if node in node_ids]
        tx.run(
            "INSERT INTO attachments (id, thread, blob, state, kind, mime, size, sha256, trust, provenance, pinned, "
            "created_at, source_ref, refs, meta) SELECT ?, ?, blob, state, kind, mime, size, sha256, trust, "
            "provenance, pinned, ?, source_ref, ?, meta FROM attachments WHERE id = ?",
            (new_id, target.k, tx.now, msgspec.json.encode(refs).decode() if refs else None, attachment_id),
        )
    return copies


def _rewrite(value: Any, new_ids: dict[str, str]) -> Any:
    """The payload with every id that was copied replaced by its copy's."""
    if isinstance(value, str):
        return new_ids.get(value, value) if len(value) == 36 else value
    if isinstance(value, dict):
        return {key: _rewrite(item, new_ids) for key, item in value.items()}
    if isinstance(value, list):
        return [_rewrite(item, new_ids) for item in value]
    return value
