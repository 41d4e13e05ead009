"""The whole way from a node to its root, read as fast as its payloads can be decoded.

A thread's nodes lie together in the order of their arrival, so that one range holds the path and little else
unless the thread has many branches; then the rest is walked by the parents.
"""

from typing import NamedTuple

from sidekeep.store import tree
from sidekeep.store.sql import statements
from sidekeep.store.tx import Row, Tx

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
    payload: bytes


def path_to(tx: Tx, key: int) -> list[PathNode]:
    """From the root to this node."""
    return [PathNode._make(row) for row in rows_to(tx, key)]


def rows_to(tx: Tx, key: int) -> list[Row]:
    """From the root to this node, each row with the fields of a PathNode: a thousand names cost as much as a third
    of the decoding. A parent always has a lower key, so that no damage can make this loop; where a parent is missing
    the path begins below it."""
    found: list[Row] = []
    wanted: int | None = key
    floor = tree.first_key(key >> 32)
    below = key
    while wanted is not None:
        rows = tx.all(sql.down_from, (below, floor, _SCAN))
        on_path = _straight(rows, wanted) or _followed(rows, wanted)
        hits = len(on_path)
        if hits:
            found += on_path
            wanted = on_path[-1][2]
        if len(rows) < _SCAN or wanted is None:
            break
        below = rows[-1][0] - 1
        if wanted > below:
            break  # the parent is not where it must be: it is gone
        if hits * _WORTH < _SCAN:
            found += tx.all(sql.up_from, (wanted,))
            break
    found.reverse()
    return found


def _straight(rows: list[Row], wanted: int) -> list[Row] | None:
    """The rows themselves where each is the parent of the one before, as in most threads; else None."""
    keys = [row[0] for row in rows]
    keys.append(rows[-1][2] if rows else None)
    return rows if keys == [wanted, *[row[2] for row in rows]] else None


def _followed(rows: list[Row], wanted: int | None) -> list[Row]:
    """Those of the rows (newest first) that lie on the way up from `wanted`."""
    on_path = []
    for row in rows:
        if row[0] == wanted:
            on_path.append(row)
            wanted = row[2]
            if wanted is None:
                break
    return on_path
