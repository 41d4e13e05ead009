"""A conversation that the disk damaged still opens: what of it can be shown, and what is put right on the way.

Reading changes nothing: a payload that cannot be read is shown as a notice in its place and stays as it is, for
`sidekeep verify --repair`. A way to the root that is broken is mended by the one who opens it, in a transaction.
Source: first document §3.4; design, *Store* ("on load").
"""

import msgspec

from sidekeep.model.canonical import canonical
from sidekeep.store import runs, tree
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tree import Node
from sidekeep.store.tx import Tx

UNREADABLE = "unreadable"
REPAIRED = "repaired"
#: How many breaks one opening mends; what is behind more of them is shown when it has been mended by `verify`.
BREAKS = 32

#: What decoding a payload raises that the disk damaged.
UNREADABLE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class BrokenPath(Exception):
    """The way to the root from `start` (None: the cursor) ends below `at`: its parent `key` is no earlier node."""

    def __init__(self, thread_id: str, start: int | None, at: int, key: int) -> None:
        super().__init__(f"node {at} hangs under {key}")
        self.thread_id = thread_id
        self.start = start
        self.at = at
        self.key = key


def is_readable(payload: bytes) -> bool:
    """Whether it is one JSON object in UTF-8."""
    try:
        _object(payload)
        if not payload.isascii():
            payload.decode()
    except UNREADABLE_ERRORS:
        return False
    return True


def readable(node: Node) -> Node:
    """The node as it can be shown: itself, or a notice that stands in its place."""
    if is_readable(node.payload):
        return node
    words = (
        f"This {node.type.replace('_', ' ')} (number {node.seq} of the conversation) was damaged on the disk and "
        "cannot be read. `sidekeep verify --repair` looks for what is left of it."
    )
    return node._replace(type="system_notice", payload=canonical({"code": UNREADABLE, "text": words}))


def check_cursor(tx: Tx, thread: ThreadRow) -> None:
    """Raises BrokenPath when the cursor is no node of the thread although the thread has nodes."""
    leaf = thread.leaf
    if leaf is None:
        if tx.one("SELECT 1 FROM nodes WHERE k > ? AND k < ? LIMIT 1", _range(thread)) is not None:
            raise BrokenPath(thread.id, None, 0, 0)
    elif leaf >> 32 != thread.k or tx.one(tree.sql.id, (leaf,)) is None:
        raise BrokenPath(thread.id, None, 0, leaf)


def head(tx: Tx, thread: ThreadRow) -> int | None:
    """The node that what is said next hangs under: the cursor, mended first where it is damaged.

    While an answer is written nothing is mended, and it is the newest node whose way to a root is whole.
    """
    leaf = thread.leaf
    empty = leaf is None and thread.next_seq == 1
    if empty or (leaf is not None and leaf >> 32 == thread.k and thread.leaf_id is not None):
        return leaf
    try:
        check_cursor(tx, thread)
    except BrokenPath as broken:
        mend(tx, broken)
        return newest_whole(tx, thread) if runs.is_active(tx, thread.k) else thread.leaf
    return leaf


def mend(tx: Tx, broken: BrokenPath) -> None:
    """Make a thread open at the newest path that reaches a root, and say so in it; nothing while an answer is written.

    A node that is gone leaves a notice in its place, so that what follows it stays in sight. A cursor or a link that
    points where it cannot is given up for the newest node whose way to a root is whole.
    """
    from sidekeep.store import snapshot, threads
    from sidekeep.store.repair_nodes import put_placeholder

    thread = threads.live(tx, broken.thread_id)
    if runs.is_active(tx, thread.k):
        return
    done: list[str] = []
    found: BrokenPath | None = broken
    while found is not None and len(done) < BREAKS:
        if tree.first_key(thread.k) < found.key < found.at and put_placeholder(tx, found.key):
            done.append(f"message {found.key & 0xFFFF_FFFF} is lost and a note stands in its place")
        else:
            tree.set_active_head(tx, thread, newest_whole(tx, thread))
            done.append("it goes on from the newest message whose way to the beginning is whole")
            break
        found = snapshot.first_break(tx, thread, found.start)
    words = f"This conversation was damaged on the disk. It has been opened again: {'; '.join(done)}."
    tree.append(tx, thread, thread.leaf, "system_notice", {"code": REPAIRED, "text": words})


def newest_whole(tx: Tx, thread: ThreadRow) -> int | None:
    """The newest node whose way to a root is whole: one that is not deleted, if there is any. One pass."""
    whole: set[int] = set()
    newest = newest_deleted = None
    for key, parent, _type, deleted in tx.all(tree.sql.below, _range(thread)):
        if parent is None or parent in whole:
            whole.add(key)
            if deleted:
                newest_deleted = key
            else:
                newest = key
    return newest_deleted if newest is None else newest


def _range(thread: ThreadRow) -> tuple[int, int]:
    return tree.first_key(thread.k), tree.end_key(thread.k)
