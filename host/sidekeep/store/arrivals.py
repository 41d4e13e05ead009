"""What comes into the store from another copy of it: conversations, nodes, tombstones and files, checked before.

Whoever calls has checked digests and types. Nodes keep their id, time and digest, and the name of the store that made
them; the cursor of a conversation that is here already does not move.
"""

from typing import Any, NamedTuple

from sidekeep.model.canonical import canonical
from sidekeep.model.errors import Conflict, NotFound
from sidekeep.store import projects, threads, tree, uploads
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx
from sidekeep.store.verify_tree import LOST_CODE

sql = statements(__file__)


class Arrival(NamedTuple):
    """A node; `ts` in milliseconds, `origin` the store that made it and how that store counts it."""

    id: str
    parent_id: str | None
    parent_digest: str | None
    ts: int
    type: str
    payload: dict[str, Any]
    digest: str
    deleted: bool
    origin: tuple[str, int]


def thread(tx: Tx, thread_id: str, columns: dict[str, Any]) -> ThreadRow:
    """Make a conversation that is not here yet, with these columns of its row."""
    row = threads.create(tx, {"id": thread_id, "title": columns.get("title") or ""})
    for name, value in columns.items():
        row.set(name, value)
    return row


def node(tx: Tx, row: ThreadRow, new: Arrival) -> bool:
    """Add a node; whether it was new. Raises Conflict where its id is another node's, NotFound where its parent is
    neither here nor was named by it."""
    standing = tx.one(sql.standing, (new.id,))
    if standing is not None:
        if standing[0] >> 32 != row.k or standing[1] != new.digest:
            raise Conflict(f"node {new.id}: is another one here")
        return False
    parent = None
    if new.parent_id is not None:
        above = tx.one(sql.standing, (new.parent_id,))
        if above is None:
            parent = _placeholder(tx, row, new)
        elif above[0] >> 32 != row.k or above[1] != new.parent_digest:
            raise NotFound(f"node {new.id}: its parent is another one here")
        else:
            parent = above[0]
    updated, preview = row.updated_at, row.preview
    made = tree.append(tx, row, parent, new.type, new.payload, node_id=new.id, ts=new.ts, move=False)
    row.set("updated_at", updated)
    if preview is not None:
        row.set("preview", preview)
    (digest,) = tx.one("SELECT digest FROM nodes WHERE k = ?", (made.k,)) or ("",)
    if digest != new.digest:
        raise Conflict(f"node {new.id}: has another digest here")
    tx.run(sql.origin, (made.k, *new.origin))
    if new.deleted:
        tx.run(tree.sql.set_deleted, (1, made.k))
    return True


def mark(tx: Tx, row: ThreadRow, node_id: str, deleted: bool) -> None:
    """Set or take away a tombstone."""
    found = tree.find(tx, row, node_id)
    if bool(found.deleted) != deleted:
        tx.run(tree.sql.set_deleted, (int(deleted), found.k))
        tx.change("thread.node", row.id, node_id, found.seq)
        row.touch()


def head(tx: Tx, row: ThreadRow, node_id: str | None) -> None:
    """The cursor of a conversation that has just come: where it was, else the newest node."""
    found = None if node_id is None else tx.one(tree.sql.node_by_id, (node_id,))
    key = found[0] if found is not None and found[0] >> 32 == row.k else tree.default_leaf(tx, row, row.k << 32)
    tree.set_active_head(tx, row, key)


def upload(tx: Tx, row: ThreadRow, attachment_id: str, name: str, mime: str, size: int) -> bool:
    """Announce a file under the id that it has elsewhere; whether its bytes are wanted."""
    if tx.one(sql.attachment, (attachment_id,)) is not None:
        return False
    kind = "image" if mime.startswith("image/") else "file"
    uploads.begin(
        tx,
        row.k,
        {
            "kind": kind, "mime": mime, "size": size, "trust": "trusted", "provenance": "user", "meta": {"title": name},
        },
        attachment_id=attachment_id,
    )  # fmt: skip
    return True


def project(tx: Tx, project_id: str | None, name: str | None) -> str | None:
    """The project of a conversation, made without a folder where it is an id of ours that nobody knows here."""
    try:
        projects.check(tx, project_id)
    except NotFound:
        tx.run(sql.project, (project_id, name or "Unknown", tx.now, tx.now))
    return project_id


def _placeholder(tx: Tx, row: ThreadRow, child: Arrival) -> int:
    """A notice in the place of a parent that is lost: with its id, and the digest that its child names."""
    words = canonical({"code": LOST_CODE, "text": "A message was lost here: no copy of it could be read."})
    seq = row.next_seq
    row.set("next_seq", seq + 1)
    key = row.k << 32 | seq
    tx.run(
        tree.sql.insert,
        (key, child.parent_id, None, "system_notice", child.ts, child.parent_digest or "", words.decode()),
    )
    tx.change("thread.node", row.id, child.parent_id, seq)
    return key
