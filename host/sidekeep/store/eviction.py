"""Makes room under the quota: the least recently used blob goes first, marks before bytes (first document §5).

Only what was captured in passing goes: nothing that a person uploaded, pinned or kept as a page, nothing of a thread
that somebody looks at, that has a run or that lies in the trash. Both steps may stop anywhere: what is marked has no
bytes for readers any more, and `blobs.remove_dropped` frees them later.
"""

import json
from collections.abc import Collection

from sidekeep.store import attachments, blobs, quota
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)

#: Blobs that one transaction marks at most.
STEP_BLOBS = 64


def plan(tx: Tx, watched: Collection[str], most: int = STEP_BLOBS) -> list[int]:
    """The blobs that have to go now, at most so many (-1: all); read without the write lock.

    `watched` are the threads that a client looks at.
    """
    usage = quota.usage(tx)
    excess = usage.evictable_bytes - usage.limit
    chosen: list[int] = []
    if excess <= 0:
        return chosen
    for key, size, _used in tx.all(sql.candidates, (json.dumps(list(watched)), most, None)):
        chosen.append(key)
        excess -= size
        if excess <= 0:
            break
    return chosen


def mark(tx: Tx, chosen: Collection[int], watched: Collection[str]) -> int:
    """Mark those of the chosen blobs that may still go, all their attachments together; returns how many went."""
    allowed = {
        row[0] for row in tx.all(sql.candidates, (json.dumps(list(watched)), len(chosen), json.dumps(list(chosen))))
    }
    going = [key for key in chosen if key in allowed]
    if not going:
        return 0
    keys = json.dumps(going)
    by_thread: dict[str | None, list[str]] = {}
    nodes: list[str] = []
    for _key, attachment_id, thread, refs in tx.all(sql.attachments, (keys,)):
        by_thread.setdefault(thread, []).append(attachment_id)
        if refs:
            nodes += json.loads(refs).get("nodeIds") or ()
    if nodes:
        attachments.mark_nodes(tx, nodes)
    tx.run(sql.mark, (keys,))
    blobs.drop_unused(tx, going)
    for thread, ids in by_thread.items():
        tx.change("attachment.evicted", thread, detail={"attachmentIds": ids})
    return len(going)
