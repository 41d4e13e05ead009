"""The whole way from a node to its root, read as fast as its payloads can be decoded.

A thread's nodes lie together in the order of their arrival, so that one range holds the path and little else
unless the thread has many branches; then the rest is walked by the parents.
"""

from typing import NamedTuple

from sidekeep.store import tree
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)
_SCAN = 256
_WORTH = 3  # a range of which less than a third lies on the path is walked instead


class PathNode(NamedTuple):
    """A node of the path; `payload` is its canonical JSON as bytes."""

    k: int
    id: str
    parent: int | None
    type: str
    deleted: int
    evicted: int
    ts: int
    payload: bytes


def path_to(tx: Tx, key: int) -> list[PathNode]:
    """From the root to this node. A parent always has a lower key, so that no damage can make this loop;
    where a parent is missing the path begins below it."""
    found: list[PathNode] = []
    wanted: int | None = key
    floor = tree.first_key(key >> 32)
    below = key
    while wanted is not None:
        rows = tx.all(sql.down_from, (below, floor, _SCAN))
        hits = 0
        for row in rows:
            if row[0] == wanted:
                found.append(PathNode._make(row))
                wanted = row[2]
                hits += 1
                if wanted is None:
                    break
        if len(rows) < _SCAN or wanted is None:
            break
        below = rows[-1][0] - 1
        if wanted > below:
            break  # the parent is not where it must be: it is gone
        if hits * _WORTH < _SCAN:
            found += map(PathNode._make, tx.all(sql.up_from, (wanted,)))
            break
    found.reverse()
    return found
