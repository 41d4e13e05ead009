"""What a conversation's Git repository lacks of the store, and how far it has been brought.

The position is noted after the commit; a commit that was made and not noted is found in the repository.
"""

import json
from typing import Any, NamedTuple

from sidekeep.store import blobs, tree
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx

sql = statements(__file__)


class StoredNode(NamedTuple):
    """A node with all that its file says; `origin` is (store, count) of the store that made it, None for this one."""

    k: int
    id: str
    type: str
    ts: int
    deleted: int
    digest: str
    payload: bytes
    parent_id: str | None
    parent_digest: str | None
    origin: tuple[str, int] | None

    @property
    def seq(self) -> int:
        return self.k & 0xFFFF_FFFF


class EndedTurn(NamedTuple):
    """A turn that ended and waits for its commit. Times in milliseconds; `upto` is the seq of its last node."""

    run_id: str
    turn_id: str
    state: str
    stop_reason: str | None
    upto: int
    at: int
    usage: dict[str, int]
    cost_usd: float
    environment_digest: str | None
    model: str
    connection_id: str


class Position(NamedTuple):
    """How far a repository is: its newest noted commit, None before the first."""

    seq: int
    revision: int
    commit_id: str | None
    index_commit: str | None


class Lacking(NamedTuple):
    """All that a repository lacks, as one view of the store saw it; `marks` are tombstones set or taken away,
    each with the time of that."""

    store: str
    thread: ThreadRow
    auto_titled: bool
    position: Position
    turns: list[EndedTurn]
    nodes: list[StoredNode]
    marks: list[tuple[StoredNode, int]]
    uploads: dict[str, "Upload"]

    @property
    def last_seq(self) -> int:
        return self.thread.next_seq - 1


class Upload(NamedTuple):
    """A file that the user sent; its bytes are read with `piece`."""

    id: str
    blob: int
    size: int
    name: str


class Noted(NamedTuple):
    """One commit, as the store lists it."""

    id: str
    message: str
    ts: int
    turn_id: str | None


def all_due(tx: Tx) -> list[str]:
    """Every thread whose repository is behind: a look at the whole list, once a start."""
    return [row[0] for row in tx.all(sql.all_due)]


def changed_since(tx: Tx, change: int) -> tuple[list[str], int]:
    """The threads that something happened to after this change, and the newest change."""
    (newest,) = tx.one(sql.last_change) or (0,)
    if newest == change:
        return [], newest
    return [row[0] for row in tx.all(sql.changed, (change,))], int(newest)


def newest_change(tx: Tx) -> int:
    return int((tx.one(sql.last_change) or (0,))[0])


def with_turns(tx: Tx, thread_ids: list[str]) -> list[str]:
    """Those of the threads in which a turn has ended that has no commit."""
    return [row[0] for row in tx.all(sql.with_turns, (json.dumps(thread_ids),))]


def runs_now(tx: Tx, thread_id: str) -> bool:
    """Whether an answer is being written in this thread."""
    row = tx.thread(thread_id)
    return row is not None and row.status == "running"


def store_name(tx: Tx) -> str:
    """By what this store is known in the names of files: eight characters of its id."""
    (store,) = tx.one("SELECT value FROM meta WHERE key = 'storeId'") or ("",)
    return str(store).replace("-", "")[:8]


def position_of(tx: Tx, row: ThreadRow) -> Position:
    found = tx.one(sql.position, (row.k,))
    return Position(0, 0, None, None) if found is None else Position(*found)


def lacking(tx: Tx, thread_id: str) -> Lacking | None:
    """What the repository of a thread lacks; None where the thread is gone."""
    row = tx.thread(thread_id)
    if row is None:
        return None
    position = position_of(tx, row)
    base = tree.first_key(row.k)
    nodes = [_node(found) for found in tx.all(sql.nodes, (base | position.seq, base | (row.next_seq - 1)))]
    marks = [(_node(found[:11]), int(found[11])) for found in tx.all(sql.marked, (base, tree.end_key(row.k)))]
    return Lacking(
        store_name(tx),
        row,
        row.title_source not in ("none", "user"),
        position,
        [_turn(found) for found in tx.all(sql.turns, (row.k,))],
        nodes,
        marks,
        _uploads(tx, nodes),
    )


def uploads_of_run(tx: Tx, run_id: str) -> list[Upload]:
    """The files that a user sent with the message of a turn."""
    row = tx.one(sql.asked, (run_id,))
    return [] if row is None else _rows_of_uploads(tx, _named(_decoded(row[0])))


def pieces(upload: Upload) -> int:
    """In how many pieces the bytes of an upload are read."""
    return blobs.chunks_of(upload.size)


def piece(tx: Tx, upload: Upload, number: int) -> bytes | None:
    """One piece; None where it is gone."""
    return blobs.chunk(tx, upload.blob, number)


def settle(tx: Tx, thread_id: str, position: Position, commits: list[Noted], done: list[str],
           marks: list[tuple[StoredNode, int]]) -> None:  # fmt: skip
    """Note commits that were made: position, list, turns (by their runs' ids) and tombstones, in one transaction.

    Does nothing for commits that are noted already, or for a thread that is gone.
    """
    row = tx.thread(thread_id)
    if row is None:
        return
    last_turn = next((commit.turn_id for commit in reversed(commits) if commit.turn_id), None)
    tx.run(sql.settle, (row.k, position.seq, position.revision, last_turn, position.commit_id, tx.now))
    for commit in commits:
        tx.run(sql.note_commit, (row.k, *commit, row.k, commit.id))
    for run_id in done:
        tx.run(sql.turn_done, (run_id,))
    for node, at in marks:
        tx.run(sql.mark_done, (node.k, at))
    if commits:
        # Not under the thread: a commit is no change of a conversation that would have to be committed.
        tx.change("store.changed", id=thread_id, detail={"kind": "sessions", "id": thread_id})


def forget(tx: Tx, thread_id: str) -> None:
    """The repository is gone or unreadable: everything is committed anew, each turn by itself."""
    tx.run(sql.forget, (thread_id,))
    tx.run(sql.all_turns_again, (thread_id,))
    tx.run(sql.forget_position, (thread_id,))


def index_is(tx: Tx, thread_id: str, commit_id: str) -> None:
    """The index of the repository is that of this commit."""
    tx.run(sql.index_done, (thread_id, commit_id))


def index_commit(tx: Tx, thread_id: str) -> str | None:
    """The commit whose files the work tree has; None where that is not known."""
    row = tx.thread(thread_id)
    return None if row is None else position_of(tx, row).index_commit


def stale_indexes(tx: Tx) -> list[str]:
    """Threads whose last commit the index does not show."""
    return [row[0] for row in tx.all(sql.stale_indexes)]


def commits(tx: Tx, thread: int, limit: int) -> list[Noted]:
    """The newest commits of a thread's repository, the newest first."""
    return [Noted(*row) for row in tx.all(sql.commits, (thread, limit))]


def standings(tx: Tx) -> list[tuple[str, int, str]]:
    """(thread, seq, commit) of every repository that was committed to."""
    return [(row[0], row[1], row[2]) for row in tx.all(sql.standings)]


def all_ids(tx: Tx) -> list[str]:
    """Every thread, those in the trash too."""
    return [row[0] for row in tx.all("SELECT id FROM threads")]


def digests(tx: Tx, thread_id: str) -> dict[str, tuple[int, str, int]]:
    """Node → (seq, digest, tombstone) of a thread."""
    return {row[0]: (row[1] & 0xFFFF_FFFF, row[2], row[3]) for row in tx.all(sql.digests, (thread_id,))}


def mark_waits(tx: Tx, node_id: str) -> bool:
    """Whether a tombstone was set or taken away and is not committed."""
    return tx.one(sql.mark_waits, (node_id,)) is not None


def newest(tx: Tx, limit: int) -> list[dict[str, Any]]:
    """The threads outside the trash, last active first: `{id, title, updatedAt, commits, head, behind}`."""
    names = ("id", "title", "updatedAt", "commits", "head", "behind")
    found = [dict(zip(names, row, strict=True)) for row in tx.all(sql.newest, (limit,))]
    return [{**row, "behind": bool(row["behind"])} for row in found]


def purges(tx: Tx, limit: int) -> list[str]:
    """Threads that are gone for good and whose repositories may still be there, oldest first."""
    return [row[0] for row in tx.all(sql.purges, (limit,))]


def purged(tx: Tx, thread_id: str) -> None:
    tx.run(sql.purged, (thread_id,))


def _node(row: tuple[Any, ...]) -> StoredNode:
    k, node_id, kind, ts, deleted, digest, payload, parent, parent_digest, store, n = row
    origin = None if store is None else (str(store), int(n))
    return StoredNode(k, node_id, kind, ts, deleted, digest, payload, parent, parent_digest, origin)


def _turn(row: tuple[Any, ...]) -> EndedTurn:
    _k, run_id, turn_id, state, stop, user, last, finished, updated, usage, cost, digest, environment = row
    about = _decoded(environment)
    return EndedTurn(
        run_id, turn_id, state, stop, ((last or user or 0) & 0xFFFF_FFFF), finished or updated, _decoded(usage),
        float(cost), digest, str(about.get("modelId") or ""), str(about.get("connectionId") or ""),
    )  # fmt: skip


def _decoded(text: str | bytes | None) -> dict[str, Any]:
    """A column's JSON object; empty where there is none or the disk damaged it."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _named(payload: dict[str, Any]) -> list[str]:
    blocks = payload.get("content") or ()
    named = [block.get("attachmentId") for block in blocks if isinstance(block, dict)]
    return [found for found in (*named, *(payload.get("attachmentIds") or ())) if isinstance(found, str)]


def _uploads(tx: Tx, nodes: list[StoredNode]) -> dict[str, Upload]:
    ids = [
        found
        for node in nodes
        if node.type == "user_message" and b'"attachmentId' in node.payload
        for found in _named(_decoded(node.payload))
    ]
    return {upload.id: upload for upload in _rows_of_uploads(tx, ids)}


def _rows_of_uploads(tx: Tx, ids: list[str]) -> list[Upload]:
    if not ids:
        return []
    rows = tx.all(sql.uploads, (json.dumps(ids),))
    return [Upload(row[0], row[1], row[2], str(_decoded(row[3]).get("title") or "")) for row in rows]
