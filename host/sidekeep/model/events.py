"""Every event of the contract: answers, the port's own, a thread's, and broadcasts."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from sidekeep.model.entities.base import AnyJson
from sidekeep.model.entities.files import PlaceWarning
from sidekeep.model.entities.runs import Code, Fault, ItemKind, QueuedTurn
from sidekeep.model.entities.threads import ThreadMeta, ThreadNode, ThreadSnapshot
from sidekeep.model.payloads import ApprovalDecision, StopReason, Usage

ChangedKind = Literal[
    "settings",
    "rules",
    "connections",
    "memories",
    "skills",
    "plugins",
    "folders",
    "presets",
    "projects",
    "secrets",
    "pages",
    "attachments",
    "backups",
    "sessions",
    "sync",
]
ThreadChanges = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/ThreadMetaPart"})]
"""Those members of ThreadMeta that have changed; null for an optional one that is gone."""


class Event(Struct, tag_field="type", rename="camel", kw_only=True):
    """A message to a client."""


# --- answers ---


class CommandAck(Event, tag="command.ack", kw_only=True):
    """The command is on disk. Beside these members stand those of the op's row in the contract."""

    submission_id: str
    client_id: str | UnsetType = UNSET


class CommandRejected(Event, tag="command.rejected", kw_only=True):
    """Nothing changed. May carry more members, as `current` beside `conflict`."""

    submission_id: str
    client_id: str | UnsetType = UNSET
    code: Code
    message: str
    retryable: bool


class Result(Event, tag="result", kw_only=True):
    """The answer to a query."""

    submission_id: str
    client_id: str | UnsetType = UNSET
    data: AnyJson


class Pong(Event, tag="pong", kw_only=True):
    """The answer to `ping`."""

    submission_id: str
    client_id: str | UnsetType = UNSET


# --- the port ---


class HostInfo(Struct, rename="camel", kw_only=True):
    """Who answers."""

    version: str
    pid: int
    instance_id: str


class PortLimits(Struct, rename="camel", kw_only=True):
    """Bounds that a client has to know."""

    message_bytes: int
    upload_bytes: int
    chunk_bytes: int
    snapshot_nodes: int
    queue: int
    waiting_ops: int


class Initialized(Event, tag="initialized", kw_only=True):
    """The port is open; the store may still be opening."""

    submission_id: str
    protocol: str
    schema_hash: str
    host: HostInfo
    limits: PortLimits
    capabilities: list[str]


class ReloadRequired(Event, tag="fatal.reload_required", kw_only=True):
    """The client speaks another protocol; the port closes."""

    submission_id: str
    protocol: str
    client_protocol: str
    host: HostInfo
    message: str


class ErrorEvent(Event, tag="error", kw_only=True):
    """A fault that belongs to no op."""

    code: Code
    message: str
    retryable: bool


class Part(Event, tag="part", kw_only=True):
    """A slice of a longer event's JSON text."""

    id: str
    index: int
    count: int
    data: str


class HostBusy(Event, tag="host.busy", kw_only=True):
    """The store is being opened; each second."""

    what: str
    pct: int


class StoreReady(Event, tag="store.ready", kw_only=True):
    """Ops are taken from now on; a client resends what it kept for this store."""

    store_id: str
    warnings: list[PlaceWarning] | UnsetType = UNSET


# --- a thread's subscribers ---


class ThreadSnapshotEvent(ThreadSnapshot, tag_field="type", tag="thread.snapshot", kw_only=True):
    """The thread that `initialize` asked for, or one that must be read anew."""

    thread_id: str


class ThreadNodeEvent(Event, tag="thread.node", kw_only=True):
    """A node is new or changed."""

    thread_id: str
    node: ThreadNode


class QueueUpdated(Event, tag="queue.updated", kw_only=True):
    """The turns that wait now."""

    thread_id: str
    queue: list[QueuedTurn]


class TurnStart(Event, tag="turn.start", kw_only=True):
    """A turn begins."""

    thread_id: str
    turn_id: str
    run_id: str
    turn_kind: str
    steerable: bool


class ItemStart(Event, tag="item.start", kw_only=True):
    """An item begins."""

    thread_id: str
    turn_id: str
    item_id: str
    kind: ItemKind
    meta: AnyJson


class Delta(Struct, rename="camel", kw_only=True):
    """What came to an item."""

    text: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    tool_progress: AnyJson | UnsetType = UNSET


class ItemDelta(Event, tag="item.delta", kw_only=True):
    """A piece of an item; `seq` rises by one within the item's run attempt."""

    thread_id: str
    turn_id: str
    item_id: str
    seq: int
    delta: Delta


class ItemComplete(Event, tag="item.complete", kw_only=True):
    """The item is on disk."""

    thread_id: str
    turn_id: str
    item_id: str
    node_id: str | UnsetType = UNSET
    result: AnyJson | UnsetType = UNSET


class TokenUsage(Event, tag="token.usage", kw_only=True):
    """What the turn has used so far."""

    thread_id: str
    turn_id: str
    usage: Usage
    cost_usd: float | UnsetType = UNSET


class TurnComplete(Event, tag="turn.complete", kw_only=True):
    """Everything of the turn is on disk."""

    thread_id: str
    turn_id: str
    stop_reason: StopReason
    error: Fault | UnsetType = UNSET


class ApprovalRequest(Event, tag="approval.request", kw_only=True):
    """The user has to decide."""

    thread_id: str
    turn_id: str
    run_id: str
    approval_id: str
    request: AnyJson
    deadline_at: int


class ApprovalResolved(Event, tag="approval.resolved", kw_only=True):
    """It is decided, by a client or by the deadline."""

    approval_id: str
    thread_id: str | UnsetType = UNSET
    decision: ApprovalDecision
    by: str


class InteractionRequest(Event, tag="interaction.request", kw_only=True):
    """The user is asked."""

    thread_id: str
    turn_id: str
    run_id: str
    interaction_id: str
    request: AnyJson
    deadline_at: int | UnsetType = UNSET


class InteractionResolved(Event, tag="interaction.resolved", kw_only=True):
    """It is answered."""

    interaction_id: str
    thread_id: str | UnsetType = UNSET
    response: AnyJson
    by: str


class BrowserRequest(Event, tag="browser.request", kw_only=True):
    """A tool needs the browser; only to the port that serves the run's client."""

    request_id: str
    thread_id: str
    turn_id: str
    tool: str
    params: AnyJson


# --- broadcasts ---


class ThreadCreated(Event, tag="thread.created", kw_only=True):
    """A thread is new, or back from the trash."""

    thread: ThreadMeta


class ThreadUpdated(Event, tag="thread.updated", kw_only=True):
    """A thread's row has changed."""

    thread_id: str
    revision: int
    patch: ThreadChanges


class ThreadDeleted(Event, tag="thread.deleted", kw_only=True):
    """A thread is in the trash, or gone."""

    thread_id: str
    purged: bool


class StoreChanged(Event, tag="store.changed", kw_only=True):
    """Something beside threads has changed."""

    kind: ChangedKind
    id: str | UnsetType = UNSET
    revision: int | UnsetType = UNSET


class AttachmentEvicted(Event, tag="attachment.evicted", kw_only=True):
    """Attachments went for want of room."""

    thread_id: str | UnsetType = UNSET
    attachment_ids: list[str]


class StorageWarning(Event, tag="storage.warning", kw_only=True):
    """The room fills up."""

    used_bytes: int
    limit_bytes: int
    pct: int


class RunRecoveryRequired(Event, tag="run.recovery_required", kw_only=True):
    """A run stopped and waits for the user's word."""

    thread_id: str
    run_id: str


class JobProgress(Event, tag="job.progress", kw_only=True):
    """How far a job is."""

    job_id: str
    done: int
    total: int
    note: str


class JobDone(Event, tag="job.done", kw_only=True):
    """A job has ended; with `code` and `message` it failed or was cancelled."""

    job_id: str
    state: Literal["done", "failed", "cancelled"]
    data: AnyJson | UnsetType = UNSET
    code: Code | UnsetType = UNSET
    message: str | UnsetType = UNSET


HostEvent = (
    CommandAck
    | CommandRejected
    | Result
    | Pong
    | Initialized
    | ReloadRequired
    | ErrorEvent
    | Part
    | HostBusy
    | StoreReady
    | ThreadSnapshotEvent
    | ThreadNodeEvent
    | QueueUpdated
    | TurnStart
    | ItemStart
    | ItemDelta
    | ItemComplete
    | TokenUsage
    | TurnComplete
    | ApprovalRequest
    | ApprovalResolved
    | InteractionRequest
    | InteractionResolved
    | BrowserRequest
    | ThreadCreated
    | ThreadUpdated
    | ThreadDeleted
    | StoreChanged
    | AttachmentEvicted
    | StorageWarning
    | RunRecoveryRequired
    | JobProgress
    | JobDone
)
