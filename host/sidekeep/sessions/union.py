"""Takes a session that was read from a repository into the store: in short steps, each of which may be repeated.

Nodes are united, parents first; files come once; what is here already stays.
"""

import mimetypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from sidekeep.model.errors import Conflict, NotFound, SidekeepError
from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.sessions.reading import ReadNode, ReadSession, ReadUpload
from sidekeep.store import arrivals, blobs, uploads
from sidekeep.store.arrivals import Arrival
from sidekeep.store.tx import Tx, dumps

#: A step takes some 20 ms of the write lock: so many nodes, or so many bytes of them, or so many pieces of a file.
STEP_NODES = 100
STEP_BYTES = 2 * 1024 * 1024
STEP_CHUNKS = 8

Write = Callable[[Callable[[Tx], Any]], Any]
Content = Callable[[ReadUpload, int, int], bytes]

#: Members of `meta.json` → columns that are taken over as they are.
_TEXTS = {
    "title": "title", "source": "source", "agent_id": "agent_id", "channel": "channel", "account_id": "account_id",
    "peer_display": "peer_display", "peer_id": "peer_id", "group": "grouping", "folder_id": "folder_id",
    "preset": "preset", "parent_session_id": "parent_thread",
}  # fmt: skip
_FLAGS = {"pinned": "pinned", "archived": "archived"}
_NEEDED = frozenset(("title", "source", "agent_id"))
_SOURCES = frozenset(("none", "first_line", "model", "user"))


@dataclass
class United:
    """What came of it; `faults` names what was not taken, `last_seq` and `revision` are the thread's afterwards."""

    made: bool = False
    nodes: int = 0
    marks: int = 0
    uploads: int = 0
    fields: int = 0
    last_seq: int = 0
    revision: int = 0
    faults: list[str] = field(default_factory=list)


def columns_of(meta: dict[str, Any]) -> dict[str, Any]:
    """The columns that a `meta.json` speaks of; status, unread, scope and cursor are each store's own."""
    found: dict[str, Any] = {}
    for member, column in _TEXTS.items():
        if meta.get(member) is not None or (member in meta and member not in _NEEDED):
            found[column] = meta[member]
    for member, column in _FLAGS.items():
        if isinstance(meta.get(member), bool):
            found[column] = int(meta[member])
    if isinstance(meta.get("tags"), list):
        found["tags"] = dumps(meta["tags"])
    if meta.get("title_source") in _SOURCES:
        found["title_source"] = meta["title_source"]
    if "deleted_at" in meta:
        at = meta["deleted_at"]
        found["deleted_at"] = None if at is None else round(at * 1000)
    return found


def unite(read: ReadSession, write: Write, content: Content) -> United:
    """Take a session in. Raises the store's errors, and OSError or KeyError where bytes cannot be read; may be called
    again after any of them."""
    done = United(faults=list(read.faults))
    done.made = write(lambda tx: _make(tx, read))
    for upload in read.uploads:
        done.uploads += _upload(read, upload, write, content)
    waiting = read.in_order()
    while True:
        step = _step(waiting)
        if not step:
            break
        added, faults = write(partial(_nodes, session_id=read.id, step=step))
        done.nodes += added
        done.faults += faults
    left = len(read.nodes) - sum(1 for _ in read.in_order())
    if left:
        done.faults.append(f"{left} nodes hang in a circle")
    write(lambda tx: _finish(tx, read, done))
    return done


def _make(tx: Tx, read: ReadSession) -> bool:
    if tx.thread(read.id) is not None:
        return False
    meta = read.meta
    columns = columns_of(meta)
    columns["project_id"] = arrivals.project(tx, meta.get("project_id"), meta.get("project_name"))
    for member, column in (("created_at", "created_at"), ("updated_at", "updated_at")):
        if meta.get(member) is not None:
            columns[column] = round(meta[member] * 1000)
    stats = meta.get("stats") or {}
    for member, column in (("turns", "turns"), ("total_tokens", "total_tokens")):
        if type(stats.get(member)) is int and stats[member] >= 0:
            columns[column] = stats[member]
    if type(stats.get("cost_usd")) in (int, float) and stats["cost_usd"] >= 0:
        columns["cost_usd"] = float(stats["cost_usd"])
    # Others hear of it when it is whole.
    deleted_at = columns.pop("deleted_at", None)
    row = arrivals.thread(tx, read.id, columns)
    if deleted_at is not None:
        row.set("deleted_at", deleted_at)
    tx.finish()
    return True


def _step(waiting: Any) -> list[ReadNode]:
    step: list[ReadNode] = []
    size = 0
    for node in islice(waiting, STEP_NODES):
        step.append(node)
        size += len(dumps(node.payload))
        if size > STEP_BYTES:
            break
    return step


def _nodes(tx: Tx, session_id: str, step: list[ReadNode]) -> tuple[int, list[str]]:
    row = tx.thread(session_id)
    if row is None:
        raise NotFound(f"No thread {session_id}.")
    added, faults = 0, []
    for node in step:
        arrival = Arrival(node.id, node.parent_id, node.parent_digest, node.ts, node.type, node.payload, node.digest,
                          node.deleted, (node.store, node.n))  # fmt: skip
        try:
            added += arrivals.node(tx, row, arrival)
        except (Conflict, NotFound) as error:
            faults.append(error.message)
    tx.finish()
    return added, faults


def _finish(tx: Tx, read: ReadSession, done: United) -> None:
    row = tx.thread(read.id)
    if row is None:
        return
    if read.nodes and row.leaf is None:
        arrivals.head(tx, row, read.meta.get("head_id"))
    updated = read.meta.get("updated_at")
    if updated is not None and round(updated * 1000) > row.updated_at:
        row.set("updated_at", round(updated * 1000))
    tx.finish()
    done.last_seq, done.revision = row.next_seq - 1, row.revision


def _upload(read: ReadSession, upload: ReadUpload, write: Write, content: Content) -> int:
    """1 when the file was not here before."""
    if not write(lambda tx: _announce(tx, read.id, upload)):
        return 0
    for first in range(0, blobs.chunks_of(upload.size), STEP_CHUNKS):
        data = content(upload, first * CHUNK_BYTES, STEP_CHUNKS * CHUNK_BYTES)
        write(partial(_receive, attachment_id=upload.id, first=first, data=data))
    try:
        write(lambda tx: uploads.keep(tx, upload.id))
    except SidekeepError:
        write(lambda tx: uploads.give_up(tx, upload.id))
        raise
    return 1


def _announce(tx: Tx, session_id: str, upload: ReadUpload) -> bool:
    try:
        uploads.find(tx, upload.id)  # begun before a death: its bytes come again
    except NotFound:
        row = tx.thread(session_id)
        if row is None:
            raise NotFound(f"No thread {session_id}.") from None
        mime = mimetypes.guess_type(upload.name)[0] or "application/octet-stream"
        return arrivals.upload(tx, row, upload.id, upload.name, mime, upload.size)
    return True


def _receive(tx: Tx, attachment_id: str, first: int, data: bytes) -> None:
    for number, start in enumerate(range(0, len(data), CHUNK_BYTES)):
        uploads.receive(tx, attachment_id, first + number, data[start : start + CHUNK_BYTES])
