"""Threads, nodes and what a panel sees of them."""

from msgspec import UNSET, UnsetType

from sidekeep.model.entities.base import Out, PayloadJson
from sidekeep.model.entities.runs import (
    ActiveTurn,
    PendingApproval,
    PendingInteraction,
    QueuedTurn,
    RecoverableRun,
)
from sidekeep.model.ops.threads import ThreadStatus
from sidekeep.model.payloads import NodeType


class Stats(Out, kw_only=True):
    """What a thread has used."""

    turns: int = 0
    total_tokens: int = 0
    cost_usd: float = 0.0


class ThreadMeta(Out, kw_only=True):
    """A thread's row: all that the list shows (first document, section 2.1)."""

    id: str
    title: str
    created_at: int
    updated_at: int
    leaf_id: str | None
    folder_id: str | UnsetType = UNSET
    tags: list[str]
    pinned: bool
    archived: bool
    preset: str | UnsetType = UNSET
    parent_thread_id: str | UnsetType = UNSET
    stats: Stats
    scope_origins: list[str]
    revision: int
    agent_id: str
    project_id: str | UnsetType = UNSET
    project_name: str | UnsetType = UNSET
    source: str
    channel: str | UnsetType = UNSET
    account_id: str | UnsetType = UNSET
    peer_id: str | UnsetType = UNSET
    peer_display: str | UnsetType = UNSET
    group: str | UnsetType = UNSET
    status: ThreadStatus
    unread: bool
    preview: str | UnsetType = UNSET
    deleted_at: int | UnsetType = UNSET


class ThreadNode(Out, kw_only=True):
    """An element of the conversation tree (first document, section 2.2)."""

    id: str
    thread_id: str
    parent_id: str | None
    seq: int
    ts: int
    type: NodeType
    payload: PayloadJson
    deleted: bool | UnsetType = UNSET
    evicted: bool | UnsetType = UNSET
    effective_parent_id: str | None


class Siblings(Out, kw_only=True):
    """The nodes with the same effective parent, oldest first, and which of them this is."""

    index: int
    count: int
    ids: list[str]


class ThreadSnapshot(Out, kw_only=True):
    """What a panel needs to show a thread; `before` is set when more lies above `nodes`."""

    thread: ThreadMeta
    nodes: list[ThreadNode]
    before: str | None
    siblings: dict[str, Siblings]
    active_turn: ActiveTurn | None
    approvals: list[PendingApproval]
    interactions: list[PendingInteraction]
    queue: list[QueuedTurn]
    recoverable: list[RecoverableRun]


class Branch(Out, kw_only=True):
    """A tip of the tree."""

    leaf_id: str
    name: str | UnsetType = UNSET
    count: int
    ts: int
    active: bool


class SearchHit(Out, kw_only=True):
    """Where a query was found."""

    thread_id: str | UnsetType = UNSET
    node_id: str | UnsetType = UNSET
    page_id: str | UnsetType = UNSET
    title: str
    snippet: str
    ts: int
    rank: float


class SessionCommit(Out, kw_only=True):
    """A Git commit of a thread's repository; `turn_id` is null for one without a turn."""

    id: str
    message: str
    ts: int
    turn_id: str | None


class Project(Out, kw_only=True):
    """A project; the default one has no path."""

    id: str
    name: str
    path: str | UnsetType = UNSET
    missing: bool | UnsetType = UNSET
