"""Checks every conversation: each node decodes and has its digest, none is missing, the leaf reaches a root.

Reads a row at a time, so that memory does not grow with the store (a thread costs one byte a node). Where pages
cannot be read it goes on by single keys, so that each lost node has its name. Source: first document §2.2 and §3.4.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw
import msgspec

from sidekeep.model.digests import node_digest
from sidekeep.model.ids import is_uuid
from sidekeep.model.payloads import BY_TYPE
from sidekeep.store.sql import statements
from sidekeep.store.tree import end_key, first_key
from sidekeep.store.verify_findings import Look, Report

sql = statements(__file__)

LOST_CODE = "lost_node"
#: The digest of a placeholder whose node left none behind.
UNKNOWN_DIGEST = "0" * 64
#: A sequence that claims to be longer is itself damaged.
MOST_NODES = 2**31
_EACH = 500
_decode = msgspec.json.Decoder(dict[str, Any]).decode

PLACEHOLDER = "put a notice in its place, under the same id where that is known; what follows it stays"


class Stored(NamedTuple):
    """A node as its row says, texts as bytes; the last two are its parent's."""

    k: int
    id: bytes
    parent: int | None
    type: bytes
    ts: int
    digest: bytes
    payload: bytes
    parent_id: bytes | None = None
    parent_digest: bytes | None = None


class Thread(NamedTuple):
    """The columns of a thread that its nodes are checked against; of a lost row only the key is known."""

    k: int
    id: str
    leaf: int | None
    next_seq: int
    archived: int
    lost: bool = False


def check(db: Look, report: Report) -> None:
    """All threads, in order of their keys."""
    total = _total(db)
    threads = list(_threads(db, report))
    threads += _ownerless(db, report, {thread.k for thread in threads})
    for thread in threads:
        report.progress("conversations", min(report.checked["nodes"], total), total)
        report.checked["threads"] += 1
        _check_thread(db, report, thread)
    _check_choices(db, report)


def _total(db: Look) -> int:
    try:
        return db.number(sql.sum)
    except apsw.CorruptError:
        return 0


def _threads(db: Look, report: Report) -> Iterator[Thread]:
    try:
        for key, raw, leaf, next_seq, archived in db.rows(sql.threads):
            thread_id = bytes(raw or b"").decode("utf-8", "replace")
            if not is_uuid(thread_id):
                report.fault(
                    "thread_id", f"Thread {key} has the id {thread_id!r}, which is none.", id=thread_id, key=key
                )
            yield Thread(key, thread_id, leaf, next_seq, archived)
    except apsw.CorruptError as error:
        report.damaged("The table of threads", error)


def _ownerless(db: Look, report: Report, known: set[int]) -> Iterator[Thread]:
    """Threads whose nodes are here and whose row is not."""
    at = 0
    try:
        while (row := db.one(sql.next_owner, (at,))) is not None:
            owner = row[0] >> 32
            if owner not in known:
                message = f"The messages of thread number {owner} are here, but the thread is not."
                report.fault("thread_lost", message, "make a thread for them, so that they can be found", key=owner)
                yield Thread(owner, "", None, 0, 0, lost=True)
            at = end_key(owner)
    except apsw.CorruptError as error:
        report.damaged("The table of nodes", error)


def _check_thread(db: Look, report: Report, thread: Thread) -> None:
    limit = min(max(thread.next_seq, 1), MOST_NODES)
    # By seq: 1 where the way to a root is whole.
    reaches = bytearray(limit)
    last = 0
    for node in _nodes(db, report, thread):
        seq = node.k & 0xFFFF_FFFF
        report.checked["nodes"] += 1
        _report_lost(report, thread, last + 1, seq)
        last = seq
        if seq >= len(reaches):
            reaches.extend(bytes(seq + 1 - len(reaches)))
        reaches[seq] = node.parent is None or (node.parent < node.k and _is_set(reaches, thread, node.parent))
        _check_node(report, thread, node)
    if thread.lost:
        return
    if last >= thread.next_seq:
        message = f"The next message of the thread would get the number {thread.next_seq}, which is taken."
        report.fault("seq_behind", message, "count on from the last one", thread=thread.id, key=thread.k, more=last + 1)
    elif last or thread.leaf is not None or not thread.archived:
        # Of an archived thread all nodes may have been removed on purpose.
        _report_lost(report, thread, last + 1, limit)
    _check_leaf(report, thread, reaches, last)


def _is_set(reaches: bytearray, thread: Thread, key: int) -> int:
    seq = key - first_key(thread.k)
    return reaches[seq] if 0 < seq < len(reaches) else 0


def _nodes(db: Look, report: Report, thread: Thread) -> Iterator[Stored]:
    """The thread's rows in order; after a page that cannot be read, by single keys."""
    at = first_key(thread.k)
    try:
        for row in db.rows(sql.nodes, (at, end_key(thread.k))):
            at = row[0]
            yield Stored(*row)
        return
    except apsw.CorruptError as error:
        report.damaged(f"Thread {thread.id or thread.k}", error)
    for key in range(at + 1, first_key(thread.k) + min(max(thread.next_seq, 1), MOST_NODES)):
        row = _read(db, sql.node, key)
        if row is None:
            continue
        link = _read(db, sql.link, row[2]) if row[2] is not None else None
        yield Stored(*row, *(link or (None, None)))


def _read(db: Look, statement: str, key: int) -> Any:
    try:
        return db.one(statement, (key,))
    except apsw.CorruptError:
        return None


def _report_lost(report: Report, thread: Thread, first: int, end: int) -> None:
    """Every number from `first` up to `end` has no node."""
    for seq in range(first, min(end, first + _EACH)):
        message = f"Message number {seq} of the thread is gone."
        report.fault("node_lost", message, PLACEHOLDER, thread=thread.id, key=first_key(thread.k) | seq)
    if end > first + _EACH:
        report.faults["node_lost"] += end - first - _EACH


def _check_node(report: Report, thread: Thread, node: Stored) -> None:
    node_id = node.id.decode("utf-8", "replace")
    payload = decoded(node)
    if node.parent is not None and not first_key(thread.k) < node.parent < node.k:
        message = f"Message {node_id} hangs under what is no earlier message of its thread."
        repair = "hang it under the message that its digest names, else begin a branch with it"
        report.fault("node_parent", message, repair, thread=thread.id, id=node_id, key=node.k)
    if payload is None:
        message = f"Message {node_id} cannot be decoded."
        report.fault("node_undecodable", message, PLACEHOLDER, thread=thread.id, id=node_id, key=node.k)
        return
    if is_placeholder(node, payload):
        report.remark("placeholders")
    elif node.parent is not None and node.parent_id is None:
        report.remark("unprovable")
    elif node.parent_digest == UNKNOWN_DIGEST.encode() and digest_of_row(node) != node.digest:
        # It hangs under a placeholder whose digest nobody knows.
        report.remark("unprovable")
    elif digest_of_row(node) != node.digest:
        message = f"Message {node_id} does not match its digest."
        repair = "take the digest from the messages after it where they prove the text, else put a notice in its place"
        report.fault("node_digest", message, repair, thread=thread.id, id=node_id, key=node.k)


def decoded(node: Stored) -> dict[str, Any] | None:
    """The payload; None where the row is no node that can be shown."""
    try:
        if node.type.decode() not in BY_TYPE or not is_uuid(node.id.decode()) or type(node.ts) is not int:
            return None
        return _decode(node.payload)
    except (UnicodeDecodeError, msgspec.DecodeError, AttributeError, RecursionError):
        return None


def is_placeholder(node: Stored, payload: dict[str, Any]) -> bool:
    return node.type == b"system_notice" and payload.get("code") == LOST_CODE


def digest_of_row(node: Stored, parent_digest: bytes | None = None) -> bytes:
    """What the digest of a decodable row must be, under its parent's digest or another one."""
    above = node.parent_digest if parent_digest is None else parent_digest
    return node_digest(
        node.id.decode(),
        None if node.parent is None else (node.parent_id or b"").decode("utf-8", "replace"),
        None if node.parent is None else (above or b"").decode("utf-8", "replace"),
        node.ts,
        node.type.decode(),
        node.payload,
    ).encode()


def _check_leaf(report: Report, thread: Thread, reaches: bytearray, last: int) -> None:
    repair = "move it to the newest message that can be reached, and leave a notice"
    about: dict[str, Any] = {"thread": thread.id, "key": thread.k}
    if thread.leaf is None:
        if last:
            report.fault("leaf_missing", "The thread shows no message, although it has some.", repair, **about)
        return
    if not first_key(thread.k) < thread.leaf < end_key(thread.k):
        report.fault("leaf_elsewhere", "The thread stands on a message of another thread.", repair, **about)
    elif not _is_set(reaches, thread, thread.leaf):
        message = "The thread stands on a message that is gone or whose way to the first one is broken."
        report.fault("leaf_unreachable", message, repair, **about)


def _check_choices(db: Look, report: Report) -> None:
    try:
        for parent, child in db.rows(sql.loose_choices):
            report.fault(
                "branch_choice",
                f"The branch remembered at {parent} leads to {child}, which is none of its branches.",
                "forget the choice",
                key=parent,
            )
    except apsw.CorruptError as error:
        report.damaged("The table of chosen branches", error)
