"""Mends nodes: heals what a flipped bit changed, finds lost parents again, and leaves notices where nothing is left.

A node's digest proves each of these: only a row that matches it afterwards counts as healed. Every function is one
transaction's work and looks at the row anew, since an earlier repair may have mended it.
"""

import json
from hashlib import sha256
from typing import Any

from sidekeep.model.canonical import canonical
from sidekeep.model.errors import RunActive
from sidekeep.model.ids import is_uuid
from sidekeep.model.payloads import BY_TYPE
from sidekeep.store import runs, search_index, tree
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tree import end_key, first_key
from sidekeep.store.tx import Tx
from sidekeep.store.verify_tree import LOST_CODE, UNKNOWN_DIGEST, Stored, decoded, digest_of_row, is_placeholder, sql

REPAIRED_CODE = "repaired"
#: A payload up to this size is searched for the one bit that was flipped (a quarter of a second at most).
SEARCHED_BYTES = 8 * 1024
#: A parent is looked for among so many earlier messages at most.
CANDIDATES = 20_000


def thread_of(tx: Tx, key: int) -> ThreadRow | None:
    """The thread of a node's key. Raises RunActive: a conversation is not mended under an answer."""
    row = tx.thread_by_key(key >> 32)
    if row is not None and runs.is_active(tx, row.k):
        raise RunActive("An answer is being written in this conversation; stop it, then repair again.")
    return row


def stored(tx: Tx, key: int) -> Stored | None:
    """A node's row with its parent's id and digest."""
    row = tx.one(sql.node, (key,))
    if row is None:
        return None
    link = tx.one(sql.link, (row[2],)) if row[2] is not None else None
    return Stored(*row, *(link or (None, None)))


def mend(tx: Tx, key: int) -> str:
    """A node that cannot be decoded or does not match its digest; says what was done, empty for nothing to do."""
    thread, node = thread_of(tx, key), stored(tx, key)
    if node is None or thread is None:
        return ""
    payload = decoded(node)
    if payload is not None:
        if is_placeholder(node, payload) or digest_of_row(node) == node.digest:
            return ""
        if _digest_is_wrong(tx, node):
            tx.run("UPDATE nodes SET digest = ? WHERE k = ?", (digest_of_row(node).decode(), key))
            return "digest put right"
    healed = heal(tx, node)
    if healed is not None:
        tx.run(
            "UPDATE nodes SET id = ?, parent = ?, type = ?, ts = ?, payload = CAST(? AS TEXT) WHERE k = ?",
            (healed.id.decode(), healed.parent, healed.type.decode(), healed.ts, healed.payload, key),
        )
        _tell(tx, thread, healed.id.decode(), key)
        return "healed"
    _put_notice(tx, thread, node)
    return "replaced by a notice"


def _digest_is_wrong(tx: Tx, node: Stored) -> bool:
    """Do the messages after it prove its text, or is only one character of the digest another?"""
    actual = digest_of_row(node)
    for (child_key,) in tx.all(tree.sql.children, (node.k,)):
        child = stored(tx, child_key)
        if child is not None and decoded(child) is not None:
            if digest_of_row(child, actual) == child.digest:
                return True
            if digest_of_row(child) == child.digest:
                return False
    return len(node.digest) == 64 and sum(a != b for a, b in zip(node.digest, actual, strict=True)) == 1


def heal(tx: Tx, node: Stored) -> Stored | None:
    """The row as it was, if one change of type, time, id, parent or a single bit of the text makes its digest right."""
    if node.parent is not None and node.parent_id is None:
        return None
    candidate: Stored
    for candidate in _near(tx, node):
        if decoded(candidate) is not None and digest_of_row(candidate) == node.digest:
            return candidate
    payload = _unflipped(node)
    return None if payload is None else node._replace(payload=payload)


def _near(tx: Tx, node: Stored) -> Any:
    for kind in BY_TYPE:
        yield node._replace(type=kind.encode())
    if type(node.ts) is int:
        for bit in range(63):
            yield node._replace(ts=node.ts ^ (1 << bit))
    for place in range(len(node.id)):
        for bit in range(8):
            flipped = _flip(node.id, place, bit)
            if is_uuid(flipped.decode("latin-1")):
                yield node._replace(id=flipped)
    yield from _under_others(tx, node)


def _under_others(tx: Tx, node: Stored) -> Any:
    """The same row under each earlier message of its thread, the nearest first, and as a root."""
    yield node._replace(parent=None, parent_id=None, parent_digest=None)
    for key, node_id, digest in tx.all(
        "SELECT k, CAST(id AS BLOB), CAST(digest AS BLOB) FROM nodes WHERE k > ? AND k < ? ORDER BY k DESC LIMIT ?",
        (first_key(node.k >> 32), node.k, CANDIDATES),
    ):
        yield node._replace(parent=key, parent_id=node_id, parent_digest=digest)


def _flip(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes((data[place] ^ (1 << bit),)) + data[place + 1 :]


def _unflipped(node: Stored) -> bytes | None:
    """The payload with one bit turned back so that the digest is right."""
    payload = node.payload
    if len(payload) > SEARCHED_BYTES or len(node.digest) != 64 or decoded(node._replace(payload=b"{}")) is None:
        return None
    # The digest's subject around the payload, from a row whose payload is empty.
    head, tail = _around(node)
    wanted = node.digest.decode("latin-1")
    before = sha256(head)
    for place in range(len(payload)):
        rest = payload[place + 1 :] + tail
        for bit in range(8):
            state = before.copy()
            state.update(bytes((payload[place] ^ (1 << bit),)) + rest)
            if state.hexdigest() == wanted:
                return _flip(payload, place, bit)
        before.update(payload[place : place + 1])
    return None


def _around(node: Stored) -> tuple[bytes, bytes]:
    """What `model.digests.node_digest` puts before and after the payload."""
    parent = None if node.parent is None else (node.parent_id or b"").decode()
    link = None if node.parent is None else (node.parent_digest or b"").decode()
    whole = canonical(
        {"id": node.id.decode(), "parentDigest": link, "parentId": parent, "payload": {}, "ts": node.ts,
         "type": node.type.decode()}
    )  # fmt: skip
    head, _, tail = whole.partition(b'"payload":{}')
    return head + b'"payload":', tail


def _put_notice(tx: Tx, thread: ThreadRow, node: Stored) -> None:
    """The row stays with its id and digest, so that what follows keeps its proof; it says what is left of it."""
    node_id = node.id.decode("utf-8", "replace")
    if not is_uuid(node_id):
        node_id = tx.new_id()
    digest = node.digest.decode("utf-8", "replace")
    if len(digest) != 64 or digest.strip("0123456789abcdef"):
        digest = UNKNOWN_DIGEST
    kind = node.type.decode("utf-8", "replace")
    kind = kind if kind in BY_TYPE else "message"
    left = left_of(node.payload)
    words = f"This {kind.replace('_', ' ')} was damaged on the disk and no longer matches its digest."
    payload = _notice(words + (f" What is left of it:\n\n{left}" if left else ""))
    tx.run(
        "UPDATE nodes SET id = ?, type = 'system_notice', ts = ?, digest = ?, payload = ? WHERE k = ?",
        (node_id, node.ts if type(node.ts) is int else thread.created_at, digest, payload, node.k),
    )
    _tell(tx, thread, node_id, node.k)


def left_of(payload: bytes) -> str:
    """What a person can still read in a damaged payload: the text of its content, else its raw text."""
    text = payload.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    blocks = found.get("content") if isinstance(found, dict) else None
    if not isinstance(blocks, list):
        return text
    return "\n\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)


def put_placeholder(tx: Tx, key: int, node_id: str | None = None, parent: int | None = None) -> bool:
    """A notice where a node is gone; whether it was needed. Its id is known from its index or from `changes`."""
    thread = thread_of(tx, key)
    if thread is None or tx.one("SELECT 1 FROM nodes WHERE k = ?", (key,)) is not None:
        return False
    if node_id is None:
        told = tx.one(
            "SELECT id FROM changes WHERE kind = 'thread.node' AND thread = ? AND revision = ? ORDER BY seq DESC",
            (thread.id, key & 0xFFFF_FFFF),
        )
        node_id = told[0] if told is not None else None
    if node_id is None or not is_uuid(node_id) or tx.one("SELECT 1 FROM nodes WHERE id = ?", (node_id,)) is not None:
        node_id = tx.new_id()
    before = tx.one("SELECT k, ts FROM nodes WHERE k > ? AND k < ? ORDER BY k DESC LIMIT 1", (first_key(thread.k), key))
    if (
        parent is None
        or not first_key(thread.k) < parent < key
        or not tx.one("SELECT 1 FROM nodes WHERE k = ?", (parent,))
    ):
        parent = before[0] if before is not None else None
    words = f"A message was lost here (number {key & 0xFFFF_FFFF} of this conversation): the disk no longer has it."
    tx.run(
        tree.sql.insert,
        (
            key,
            node_id,
            parent,
            "system_notice",
            before[1] if before else thread.created_at,
            UNKNOWN_DIGEST,
            _notice(words),
        ),
    )
    _tell(tx, thread, node_id, key)
    return True


def _notice(words: str) -> str:
    return canonical({"code": LOST_CODE, "text": words}).decode()


def rehang(tx: Tx, key: int) -> str:
    """A node whose parent is no earlier one of its thread: under the one its digest names, else a branch of its own."""
    thread, node = thread_of(tx, key), stored(tx, key)
    if node is None or thread is None or node.parent is None or first_key(thread.k) < node.parent < key:
        return ""
    for candidate in _under_others(tx, node):
        if decoded(candidate) is not None and digest_of_row(candidate) == node.digest:
            tx.run("UPDATE nodes SET parent = ? WHERE k = ?", (candidate.parent, key))
            _tell(tx, thread, node.id.decode(), key)
            return "hung under its parent again"
    tx.run("UPDATE nodes SET parent = NULL WHERE k = ?", (key,))
    _chain_anew(tx, thread, key)
    _tell(tx, thread, node.id.decode("utf-8", "replace"), key)
    return "made the beginning of a branch"


def _chain_anew(tx: Tx, thread: ThreadRow, key: int) -> None:
    """Digests from this node downwards, where they were right under the old chain."""
    became: dict[int, tuple[bytes, bytes]] = {}
    at = key
    while at < end_key(thread.k):
        node = stored(tx, at)
        if node is not None and decoded(node) is not None and (at == key or node.parent in became):
            old_above = became[node.parent][0] if node.parent in became else None
            if at == key or digest_of_row(node, old_above) == node.digest:
                new = digest_of_row(node)
                became[at] = (node.digest, new)
                tx.run("UPDATE nodes SET digest = ? WHERE k = ?", (new.decode(), at))
        following = tx.one("SELECT k FROM nodes WHERE k > ? ORDER BY k LIMIT 1", (at,))
        if following is None:
            break
        at = following[0]


def move_leaf(tx: Tx, key: int) -> bool:
    """Put a thread's cursor on the newest message that reaches a root, unless it is on one; `key` is the thread's."""
    thread = thread_of(tx, first_key(key))
    if thread is None or (
        thread.leaf is not None and thread.leaf >> 32 == thread.k and _reaches(tx, thread, thread.leaf)
    ):
        return False
    wanted = newest_reachable(tx, thread)
    tree.set_active_head(tx, thread, wanted)
    return True


def newest_reachable(tx: Tx, thread: ThreadRow) -> int | None:
    """The newest node that is not deleted and whose way to a root is whole, else the newest deleted one."""
    for deleted in (0, 1):
        below = end_key(thread.k)
        while (
            row := tx.one(
                "SELECT k FROM nodes WHERE k > ? AND k < ? AND deleted = ? ORDER BY k DESC LIMIT 1",
                (first_key(thread.k), below, deleted),
            )
        ) is not None:
            if _reaches(tx, thread, row[0]):
                return int(row[0])
            below = row[0]
    return None


def _reaches(tx: Tx, thread: ThreadRow, key: int) -> bool:
    """Is the way from a node to a root whole?"""
    way = tree.walk_up(tx, key, thread.next_seq)
    return bool(way) and way[-1].parent is None


def leave_notice(tx: Tx, key: int, what: str) -> None:
    """One line at the end of the thread (`key`) that says it was mended."""
    thread = thread_of(tx, first_key(key))
    if thread is not None and thread.deleted_at is None:
        words = f"This conversation was damaged on the disk and has been mended: {what}."
        tree.append(tx, thread, thread.leaf, "system_notice", {"code": REPAIRED_CODE, "text": words})


def _tell(tx: Tx, thread: ThreadRow, node_id: str, key: int) -> None:
    """Panels show it anew, and the search finds what it says now."""
    search_index.forget(tx, "node", key)
    tx.change("thread.node", thread.id, node_id, key & 0xFFFF_FFFF)
