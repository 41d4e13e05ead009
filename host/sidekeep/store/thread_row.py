"""A thread's row in memory: its columns, what changed, and its shape on the wire."""

from typing import Any

import msgspec

COLUMNS = (
    "k", "id", "title", "title_source", "title_mark", "created_at", "updated_at", "leaf", "next_seq",
    "folder_id", "tags", "pinned", "archived", "preset", "parent_thread", "turns", "total_tokens", "cost_usd",
    "scope_origins", "revision", "agent_id", "project_id", "source", "channel", "account_id", "peer_id",
    "peer_display", "grouping", "status", "unread", "preview", "deleted_at", "fence",
)  # fmt: skip
# Column → member of ThreadMeta. What is not here is internal and no reason for an event.
_MEMBERS = {
    "title": "title", "updated_at": "updatedAt", "leaf": "leafId", "folder_id": "folderId", "tags": "tags",
    "pinned": "pinned", "archived": "archived", "preset": "preset", "turns": "stats", "total_tokens": "stats",
    "cost_usd": "stats", "scope_origins": "scopeOrigins", "project_id": "projectId", "grouping": "group",
    "status": "status", "unread": "unread", "preview": "preview", "deleted_at": "deletedAt",
}  # fmt: skip
_ALWAYS = (
    "id", "title", "createdAt", "updatedAt", "leafId", "tags", "pinned", "archived", "stats", "scopeOrigins",
    "revision", "agentId", "source", "status", "unread",
)  # fmt: skip
_OPTIONAL = (
    "folderId", "preset", "parentThreadId", "projectId", "projectName", "channel", "accountId", "peerId", "peerDisplay",
    "group", "preview", "deletedAt",
)  # fmt: skip
_FLAGS = frozenset(("pinned", "archived", "unread"))
_TEXTS = frozenset(("tags", "scopeOrigins"))
# Member → where its value stands in the row.
_COLUMN = {
    "id": "id", "title": "title", "createdAt": "created_at", "updatedAt": "updated_at", "leafId": "leaf_id",
    "tags": "tags", "pinned": "pinned", "archived": "archived", "scopeOrigins": "scope_origins",
    "revision": "revision", "agentId": "agent_id", "source": "source", "status": "status", "unread": "unread",
    "folderId": "folder_id", "preset": "preset", "parentThreadId": "parent_thread", "projectId": "project_id",
    "projectName": "project_name", "channel": "channel", "accountId": "account_id", "peerId": "peer_id",
    "peerDisplay": "peer_display", "group": "grouping", "preview": "preview", "deletedAt": "deleted_at",
}  # fmt: skip


class ThreadRow:
    """One row of `threads`; `set` notes what changed. `leaf_id` is the UUID of the node under `leaf`.

    `leaf_digest` is known after an append in the same transaction, so that the next one need not look it up.
    `dirty` is what the unit at hand changed, `held` what earlier ones did that is not written yet; both name
    columns with the value that is in the store. `settled` is known once its runs were looked at: none is active,
    none left a partial answer; rows are shared only by units that begin no run.
    """

    __slots__ = (*COLUMNS, "dirty", "held", "leaf_digest", "leaf_id", "project_name", "settled", "touched")

    id: str
    k: int
    title: str
    title_source: str
    title_mark: int
    created_at: int
    updated_at: int
    leaf: int | None
    next_seq: int
    folder_id: str | None
    tags: str
    pinned: int
    archived: int
    preset: str | None
    parent_thread: str | None
    turns: int
    total_tokens: int
    cost_usd: float
    scope_origins: str
    revision: int
    agent_id: str
    project_id: str | None
    source: str
    channel: str | None
    account_id: str | None
    peer_id: str | None
    peer_display: str | None
    grouping: str | None
    status: str
    unread: int
    preview: str | None
    deleted_at: int | None
    fence: int

    def __init__(self, row: tuple[Any, ...]) -> None:
        for name, value in zip(COLUMNS, row, strict=False):
            setattr(self, name, value)
        self.leaf_id: str | None = row[len(COLUMNS)]
        self.project_name: str | None = row[len(COLUMNS) + 1]
        self.leaf_digest: str | None = None
        self.dirty: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        self.settled = False
        self.touched = False

    def touch(self) -> None:
        """Something of the thread changed that no column of its row shows: it has a new revision all the same."""
        self.touched = True

    def set(self, name: str, value: object) -> None:
        """Change one column; the first value seen is remembered, so that a change back is none."""
        before = getattr(self, name)
        if before != value:
            self.dirty.setdefault(name, before)
            setattr(self, name, value)

    def move_leaf(self, key: int | None, node_id: str | None, digest: str | None = None) -> None:
        """Only `tree.set_active_head` and `tree.append` call this."""
        self.set("leaf", key)
        self.leaf_id = node_id
        self.leaf_digest = digest

    def append_content(self, now: int) -> None:
        """Only appended content moves `updatedAt`; it never goes back."""
        self.set("updated_at", max(now, self.updated_at + 1) if now <= self.updated_at else now)

    def hold(self) -> None:
        """The end of a unit: what it changed waits to be written, and the revision has risen by one."""
        if not (self.dirty or self.touched):
            return
        if self.touched or not _MEMBERS.keys().isdisjoint(self.dirty):
            self.set("revision", self.revision + 1)
        self.held = {**self.dirty, **self.held}
        self.dirty = {}
        self.touched = False

    def take_held(self) -> tuple[list[str], list[Any]]:
        """The columns to write with their values; afterwards there are none."""
        names = list(self.held)
        self.held = {}
        return names, [getattr(self, name) for name in names]

    def patch(self) -> dict[str, Any]:
        """What is to be told of `held`, as members of ThreadMeta with the revision; null for one that was removed."""
        members = sorted({_MEMBERS[name] for name in self.held if name in _MEMBERS})
        patch = {member: self._member(member) for member in members}
        if "revision" in self.held:
            patch["revision"] = self.revision
        return patch

    def meta(self) -> dict[str, Any]:
        """ThreadMeta of the protocol (first document §2.1 in camelCase, and more)."""
        meta: dict[str, Any] = {member: self._member(member) for member in _ALWAYS}
        for member in _OPTIONAL:
            value = self._member(member)
            if value is not None:
                meta[member] = value
        return meta

    def _member(self, member: str) -> Any:
        """One member of ThreadMeta as it goes on the wire; null for one that is not there."""
        if member == "stats":
            return {"turns": self.turns, "totalTokens": self.total_tokens, "costUsd": self.cost_usd}
        value = getattr(self, _COLUMN[member])
        if member in _TEXTS:
            return _texts(value) if value != "[]" else []
        return bool(value) if member in _FLAGS else value


def _texts(stored: str) -> list[str]:
    """A column's JSON list; empty where the disk damaged it."""
    try:
        found = msgspec.json.decode(stored)
    except (msgspec.DecodeError, UnicodeError):
        return []
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []
