"""Branches of a thread: their tips, and the tail that belongs to one alone."""

from typing import Any

from sidekeep.store import tree
from sidekeep.store.damage import readable
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tree import Node
from sidekeep.store.tx import Tx

sql = statements(__file__)
NAME_CHARS = 50


def listing(tx: Tx, row: ThreadRow) -> list[dict[str, Any]]:
    """Every tip in order of arrival, with how many visible messages lead to it."""
    depths = _depths(tx, row)
    active = None if row.leaf is None else _nearest_visible(tx, row.leaf)
    branches = []
    for key, node_id, ts in tx.all(sql.tips, (tree.first_key(row.k), tree.end_key(row.k))):
        branch: dict[str, Any] = {"leafId": node_id, "count": depths[key], "ts": ts, "active": key == active}
        name = _name(tx, key)
        if name:
            branch["name"] = name
        branches.append(branch)
    return branches


def _depths(tx: Tx, row: ThreadRow) -> dict[int, int]:
    """How many visible nodes lie on the way to each node, itself included; one pass, parents come first."""
    depths: dict[int, int] = {}
    for key, parent, node_type, deleted in tx.all(
        "SELECT k, parent, type, deleted FROM nodes WHERE k > ? AND k < ? ORDER BY k",
        (tree.first_key(row.k), tree.end_key(row.k)),
    ):
        visible = not deleted and node_type not in tree.HIDDEN_TYPES
        depths[key] = (depths.get(parent, 0) if parent is not None else 0) + visible
    return depths


def _nearest_visible(tx: Tx, key: int) -> int | None:
    node = tree.by_key(tx, key)
    if node is not None and node.hidden:
        node = tree.visible_parent(tx, node)
    return None if node is None else node.k


def _name(tx: Tx, key: int) -> str:
    """A branch is named by the last thing its user said."""
    import msgspec

    at: int | None = key
    below = key + 1
    while at is not None and at < below:
        node, below = tree.by_key(tx, at), at
        if node is None:
            return ""
        if node.type == "user_message" and not node.deleted:
            return tree.preview_of(msgspec.json.decode(readable(node).payload))[:NAME_CHARS]
        at = node.parent
    return ""


def tail(tx: Tx, row: ThreadRow, leaf: Node) -> list[Node]:
    """From the tip upwards, the nodes that no other branch shares, tip first; empty when it is no tip."""
    if tx.one(sql.has_visible_children, (leaf.k,))[0]:  # type: ignore[index]
        return []
    nodes: list[Node] = []
    for node in tree.walk_up(tx, leaf.k, row.next_seq):
        if nodes and tx.one(sql.has_visible_children, (node.k,))[0] > 1:  # type: ignore[index]
            break
        nodes.append(node)
    return nodes
