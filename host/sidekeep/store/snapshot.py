"""What a panel is shown of a thread: the newest window of the active path, siblings, runs that matter.

Source: first document §3.2 and §4; shapes in `docs/protocol.md` (ThreadSnapshot).
"""

from typing import Any

import msgspec

from sidekeep.model.limits import SNAPSHOT_NODES
from sidekeep.store import runs, tree
from sidekeep.store.damage import BrokenPath, check_cursor, readable
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tree import Node
from sidekeep.store.tx import Tx, dumps

sql = tree.sql


def thread_node(thread_id: str, node: Node, parent_id: str | None, effective_parent: str | None) -> dict[str, Any]:
    """ThreadNode of the protocol; the payload goes out as the text that was stored, or as a notice if it is none."""
    node = readable(node)
    entry: dict[str, Any] = {
        "id": node.id,
        "threadId": thread_id,
        "parentId": parent_id,
        "seq": node.seq,
        "ts": node.ts,
        "type": node.type,
        "payload": msgspec.Raw(node.payload),
        "effectiveParentId": effective_parent,
    }
    if node.deleted:
        entry["deleted"] = True
    if node.evicted:
        entry["evicted"] = True
    return entry


def node_event(tx: Tx, thread: ThreadRow, node: Node) -> dict[str, Any]:
    """One node alone, for `thread.node`."""
    parent = None if node.parent is None else tree.by_key(tx, node.parent)
    above = parent if parent is None or not parent.hidden else tree.visible_parent(tx, node)
    return thread_node(thread.id, node, parent and parent.id, above and above.id)


def window(tx: Tx, thread: ThreadRow, start: int | None, limit: int, *, strict: bool = False) -> dict[str, Any]:
    """`{"nodes", "before", "siblings"}`: at most `limit` visible nodes from `start` (a key) upwards.

    A way that breaks off raises BrokenPath when `strict`, else it is shown as far as it goes.
    """
    path: list[Node] = []
    shown: list[Node] = []
    at, below = start, tree.end_key(thread.k)
    while at is not None and len(shown) <= limit:
        step = tree.walk_up(tx, at, limit + 8) if at < below and at >> 32 == thread.k else []
        if not step:
            if strict:
                raise BrokenPath(thread.id, start, path[-1].k if path else below, at)
            break
        path += step
        shown += [node for node in step if not node.hidden]
        at, below = step[-1].parent, step[-1].k
    ids = {node.k: node.id for node in path}
    more = len(shown) > limit
    kept = shown[:limit]
    parents: list[Node | None] = [*shown[1 : len(kept)], shown[limit] if more else None] if kept else []
    nodes = [
        thread_node(thread.id, node, _id_of(tx, ids, node.parent), above and above.id)
        for node, above in zip(kept, parents, strict=True)
    ]
    return {
        "nodes": nodes[::-1],
        "before": kept[-1].id if more else None,
        "siblings": _siblings(tx, thread, kept, parents),
    }


def _id_of(tx: Tx, known: dict[int, str], key: int | None) -> str | None:
    if key is None:
        return None
    if key not in known:
        row = tx.one(sql.id, (key,))
        known[key] = row[0] if row else ""
    return known[key] or None


def _siblings(tx: Tx, thread: ThreadRow, nodes: list[Node], parents: list[Node | None]) -> dict[str, Any]:
    """Index, count and ids among the visible children of the same effective parent, in order of arrival."""
    anchors = [above.k for above in parents if above is not None]
    children: dict[int, list[str]] = {}
    if anchors:
        for anchor, _key, node_id in tx.all(sql.kids, (dumps(anchors),)):
            children.setdefault(anchor, []).append(node_id)
    root = tree.first_key(thread.k)
    if nodes and parents[-1] is None:
        children[root] = [row[1] for row in tx.all(sql.root_kids, (root, tree.end_key(thread.k)))]
    siblings = {}
    for node, above in zip(nodes, parents, strict=True):
        ids = children.get(root if above is None else above.k, [])
        if node.id in ids:
            siblings[node.id] = {"index": ids.index(node.id), "count": len(ids), "ids": ids}
    return siblings


def first_break(tx: Tx, thread: ThreadRow, start: int | None) -> BrokenPath | None:
    """Where the window from `start` (None: from the cursor) breaks off."""
    try:
        if start is None:
            check_cursor(tx, thread)
        window(tx, thread, thread.leaf if start is None else start, SNAPSHOT_NODES, strict=True)
    except BrokenPath as broken:
        return broken
    return None


def snapshot(
    tx: Tx, thread: ThreadRow, active_items: list[dict[str, Any]] | None = None, *, strict: bool = False
) -> dict[str, Any]:
    """ThreadSnapshot without the items of the active turn, which the caller reads from the live file.

    Raises BrokenPath as `window` does.
    """
    if strict:
        check_cursor(tx, thread)
    shown = window(tx, thread, thread.leaf, SNAPSHOT_NODES, strict=strict)
    opened = runs.open_of_thread(tx, thread.k)
    active = next((run for run in opened if run.state != "queued"), None)
    queue = [run for run in opened if run.state == "queued"]
    if active is None and queue and queue[0].user_node is not None:
        active = queue.pop(0)
    return {
        "thread": thread.meta(),
        **shown,
        "activeTurn": None
        if active is None
        else {
            "runId": active.id,
            "turnId": active.turn_id,
            "state": active.state,
            "items": active_items or [],
        },
        "approvals": _pending(tx, "approvals", thread.k),
        "interactions": _pending(tx, "interactions", thread.k),
        "queue": [runs.queue_entry(run) for run in queue],
        "recoverable": [
            *(_recoverable(run) for run in runs.recoverable_of_thread(tx, thread.k)),
            *(_paused(tx, run) for run in opened if run.state in runs.PAUSED),
        ],
    }


def _pending(tx: Tx, table: str, thread: int) -> list[dict[str, Any]]:
    key = "approvalId" if table == "approvals" else "interactionId"
    rows = tx.all(
        f"SELECT p.id, r.id, r.turn_id, p.request, p.deadline_at FROM {table} p JOIN runs r ON r.k = p.run "
        "WHERE p.thread = ? AND p.status = 'pending' ORDER BY p.k",
        (thread,),
    )
    entries = []
    for pending_id, run_id, turn_id, request, deadline in rows:
        entry: dict[str, Any] = {
            key: pending_id,
            "runId": run_id,
            "turnId": turn_id,
            "request": msgspec.Raw(request.encode()),
        }
        if deadline is not None:
            entry["deadlineAt"] = deadline
        entries.append(entry)
    return entries


def unwritten(tx: Tx, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items of a live file without those that are nodes already: the line that says so may be still to come."""
    if not items:
        return items
    marks = ", ".join("?" * len(items))
    written = tx.all(f"SELECT id FROM nodes WHERE id IN ({marks})", [item["itemId"] for item in items])
    known = {row[0] for row in written}
    return [item for item in items if item["itemId"] not in known]


def _paused(tx: Tx, run: runs.RunRow) -> dict[str, Any]:
    """A run that waits for the user's word on it; an act whose result is unknown is named by its tool."""
    entry = _recoverable(run)
    entry["reason"] = "uncertain" if run.state == "paused_uncertain" else entry["reason"]
    acting = msgspec.json.decode(run.partial).get("acting") if run.partial else None
    if acting is not None:
        row = tx.one(
            "SELECT payload ->> '$.toolName' FROM nodes WHERE k BETWEEN ? AND ? AND type = 'tool_call' "
            "AND payload ->> '$.itemId' = ?",
            (run.user_node or 0, run.last_node or 0, acting),
        )
        if row is not None:
            entry["tool"] = row[0]
    return entry


def _recoverable(run: runs.RunRow) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "runId": run.id,
        "turnId": run.turn_id,
        "state": run.state,
        "reason": run.stop_reason or "interrupted",
    }
    partial = msgspec.json.decode(run.partial) if run.partial else {}
    if partial.get("text"):
        entry["partialText"] = partial["text"]
    return entry
