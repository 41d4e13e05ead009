"""The conversation tree: append, walk, siblings, tombstones, and the one function that moves the cursor.

Nodes are appended and never changed; only `deleted` and `evicted` may be set. Children are found by parent.
Source: first document §2.2 and §3.
"""

from typing import Any, NamedTuple

import msgspec

from sidekeep.model.canonical import canonical
from sidekeep.model.digests import node_digest
from sidekeep.model.errors import NotFound
from sidekeep.model.limits import PREVIEW_CHARACTERS
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)
json_object = msgspec.json.Decoder(dict[str, Any]).decode

#: Node types that branches and siblings are read without (tombstones are hidden too).
HIDDEN_TYPES = frozenset(("turn_context", "interaction_response"))


class Node(NamedTuple):
    """One stored node; `payload` is its canonical JSON, as bytes since a damaged one may be no text."""

    k: int
    id: str
    parent: int | None
    type: str
    deleted: int
    evicted: int
    ts: int
    payload: bytes

    @property
    def seq(self) -> int:
        return self.k & 0xFFFF_FFFF

    @property
    def hidden(self) -> bool:
        return bool(self.deleted) or self.type in HIDDEN_TYPES


def first_key(thread: int) -> int:
    """The key below a thread's first node; it also stands for the root's parent."""
    return thread << 32


def end_key(thread: int) -> int:
    return (thread + 1) << 32


def append(
    tx: Tx,
    thread: ThreadRow,
    parent: int | None,
    type: str,
    payload: dict[str, Any],
    *,
    node_id: str | None = None,
    ts: int | None = None,
    move: bool = True,
) -> Node:
    """Add a node under `parent` (a key of this thread, or None for a root); `move` sets the leaf on it.

    The caller has checked that the parent belongs to the thread. First document §3.1.
    """
    parent_digest = None
    parent_id = None
    fresh = parent is not None and parent == thread.leaf and thread.leaf_digest is not None
    if fresh:
        parent_id, parent_digest = thread.leaf_id, thread.leaf_digest
    elif parent is not None:
        found = tx.one("SELECT id, digest FROM nodes WHERE k = ?", (parent,))
        if found is None or parent >> 32 != thread.k:
            raise NotFound("The parent is not a node of this thread.")
        parent_id, parent_digest = found
    seq = thread.next_seq
    thread.set("next_seq", seq + 1)
    key = first_key(thread.k) | seq
    node_id = node_id or tx.new_id()
    ts = tx.now if ts is None else ts
    text = canonical(payload)
    digest = node_digest(node_id, parent_id, parent_digest, ts, type, text)
    node = Node(key, node_id, parent, type, 0, 0, ts, text)
    tx.run(sql.insert, (key, node_id, parent, type, ts, digest, text.decode()))
    if b'"attachmentId' in text:
        from sidekeep.store import attachments

        attachments.named_by(tx, node_id, payload)
    if not fresh:  # below what was appended just now nothing has been chosen
        tx.run(sql.choose_appended, (key, first_key(thread.k) if parent is None else parent))
    thread.append_content(tx.now)
    if type == "user_message":
        preview = preview_of(payload)
        if preview:
            thread.set("preview", preview)
    if move:
        thread.move_leaf(key, node_id, digest)
    tx.change("thread.node", thread.id, node_id, seq)
    return node


def preview_of(payload: dict[str, Any]) -> str:
    """The first 80 characters of a message's text, line breaks as spaces."""
    text = " ".join(block["text"] for block in payload.get("content", ()) if block.get("type") == "text")
    # So many words are more than that many characters: the rest of a long text is not looked at.
    return " ".join(text.split(None, PREVIEW_CHARACTERS)[:PREVIEW_CHARACTERS])[:PREVIEW_CHARACTERS]


def full_text(node: Node) -> str:
    """The words of a message; empty where they cannot be read."""
    try:
        blocks = json_object(node.payload).get("content") or ()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return "\n\n".join(block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text")


def set_active_head(tx: Tx, thread: ThreadRow, key: int | None) -> str | None:
    """Move the cursor of a thread; whoever moves it comes through here (second document, *_set_active_head*).

    The caller has checked that no run is active. Remembers the choice at each fork on the way up.
    """
    node_id = None
    if key is not None:
        node_id = tx.one(sql.id, (key,))[0]  # type: ignore[index]
        remember_choices(tx, thread, key)
    thread.move_leaf(key, node_id)
    return node_id


def remember_choices(tx: Tx, thread: ThreadRow, key: int) -> None:
    """At every fork between the root and this node, this branch is the one that was chosen last."""
    above = tx.all(sql.ancestors, (key, thread.next_seq))
    forks = {
        row[0]
        for row in tx.all(
            "SELECT parent FROM nodes WHERE parent IN (SELECT value FROM json_each(?)) "
            "GROUP BY parent HAVING count(*) > 1",
            (dumps([parent for _, parent, _, _ in above if parent is not None]),),
        )
    }
    for child, parent, _type, _deleted in above:
        if parent is None:
            tx.run(sql.choose, (first_key(thread.k), child))
        elif parent in forks:
            tx.run(sql.choose, (parent, child))


def walk_up(tx: Tx, key: int, limit: int) -> list[Node]:
    """At most `limit` nodes from this one towards the root, nearest first. A parent always has a lower
    key, so that no damage can make this loop."""
    return [Node(*row) for row in tx.all(sql.path, (key, limit))]


def default_leaf(tx: Tx, thread: ThreadRow, key: int) -> int | None:
    """Down from a node by the child chosen last under each fork, else the highest seq (first document §3.2).

    `key` may be `first_key`, the place above all roots; None when nothing stands below it. Tombstones are walked
    through to what is visible behind them, and never chosen where they lead nowhere; below the last visible node
    the walk goes on through what hides by its type, since a run appends after its own last node.
    """
    top = first_key(thread.k)
    children: dict[int, list[int]] = {}
    worth = {key: 0}
    for child, parent, node_type, deleted in tx.all(sql.below, (key, end_key(thread.k))):
        above = top if parent is None else parent
        if above in worth:
            children.setdefault(above, []).append(child)
            worth[child] = 0 if deleted else 1 if node_type in HIDDEN_TYPES else 2
    for parent in sorted(children, reverse=True):
        worth[parent] = max(worth[parent], *(worth[child] for child in children[parent]))
    chosen: dict[int, int] = dict(tx.all(sql.choices, (top, end_key(thread.k))))
    at = key
    while at in children:
        most = max(worth[child] for child in children[at])
        if not most:
            break
        best = [child for child in children[at] if worth[child] == most]
        at = chosen[at] if chosen.get(at) in best else best[-1]
    return None if at == top else at


def visible_parent(tx: Tx, node: Node) -> Node | None:
    """The effective parent: the nearest ancestor that is not hidden."""
    at, below = node.parent, node.k
    while at is not None:
        row = tx.one(sql.node, (at,)) if at < below else None
        if row is None:
            return None
        below = at
        above = Node(*row)
        if not above.hidden:
            return above
        at = above.parent
    return None


def find(tx: Tx, thread: ThreadRow, node_id: str) -> Node:
    """A node of this thread by id. Raises NotFound."""
    row = tx.one(sql.node_by_id, (node_id,))
    if row is None or row[0] >> 32 != thread.k:
        raise NotFound(f"No node {node_id} in this thread.")
    return Node(*row)


def by_key(tx: Tx, key: int) -> Node | None:
    row = tx.one(sql.node, (key,))
    return None if row is None else Node(*row)


def is_on_active_path(tx: Tx, thread: ThreadRow, key: int) -> bool:
    """Does the way from the leaf to the root pass this node?"""
    if thread.leaf is None:
        return False
    return any(row[0] == key for row in tx.all(sql.ancestors, (thread.leaf, thread.next_seq)))
