"""Ops on threads, branches and nodes."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, field

from sidekeep.model.limits import (
    LIST_DEFAULT,
    SEARCH_DEFAULT,
    SEARCH_MAX,
    SNAPSHOT_NODES,
    TAG_CHARACTERS,
    TAGS,
    TITLE_CHARACTERS,
)
from sidekeep.model.ops.base import Cursor, Limit, Op
from sidekeep.model.payloads import (
    BY_TYPE,
    AssistantMessage,
    Count,
    Id,
    Millis,
    Name,
    SystemNotice,
    UserMessage,
    under,
)

Title = Annotated[str, Meta(max_length=TITLE_CHARACTERS)]
Tag = Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS)]
Tags = Annotated[list[Tag], Meta(max_length=TAGS)]
ThreadStatus = Literal["idle", "running", "needs_input", "done", "failed", "interrupted"]
AppendPayload = UserMessage | AssistantMessage | SystemNotice


class ThreadCreate(Op, tag="thread.create", kw_only=True):
    """A new thread, under the client's id when it gives one."""

    thread_id: Id | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    preset: Name | UnsetType = UNSET
    folder_id: Name | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    project_id: Name | UnsetType = UNSET
    source: Name = "panel"
    agent_id: Name = "main"
    channel: Name | UnsetType = UNSET
    account_id: Name | UnsetType = UNSET
    peer_id: Name | UnsetType = UNSET
    peer_display: Name | UnsetType = UNSET


class ThreadPatch(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What of a thread's row a user may change; null clears."""

    title: Title | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    folder_id: Name | UnsetType | None = UNSET
    tags: Tags | UnsetType = UNSET
    unread: bool | UnsetType = UNSET
    preset: Name | UnsetType | None = UNSET
    group: Name | UnsetType | None = UNSET
    project_id: Name | UnsetType | None = UNSET


class ThreadUpdate(Op, tag="thread.update", kw_only=True):
    """Changes the row; with `expected_revision` only if nobody else did meanwhile."""

    thread_id: Id
    patch: ThreadPatch
    expected_revision: Count | UnsetType = UNSET


class ThreadDelete(Op, tag="thread.delete", kw_only=True):
    """Into the trash, or with `purge` for good."""

    thread_id: Id
    purge: bool = False


class ThreadRestore(Op, tag="thread.restore", kw_only=True):
    """Out of the trash."""

    thread_id: Id


class ThreadFork(Op, tag="thread.fork", kw_only=True):
    """A new thread from a node of this one: with its path copied, or empty."""

    thread_id: Id
    at_node_id: Id
    copy: Literal["path", "empty"] = "path"


class ThreadSelectBranch(Op, tag="thread.selectBranch", kw_only=True):
    """Moves the leaf down from a node."""

    thread_id: Id
    node_id: Id


class ThreadList(Op, tag="thread.list", kw_only=True):
    """A part of the list, newest first."""

    limit: Limit = LIST_DEFAULT
    cursor: Cursor | UnsetType = UNSET
    archived: bool | Literal["all"] = False
    trash: bool = False
    pinned: bool | UnsetType = UNSET
    folder_id: Name | UnsetType = UNSET
    tag: Tag | UnsetType = UNSET
    project_id: Name | UnsetType = UNSET
    status: ThreadStatus | UnsetType = UNSET
    with_total: bool = False


class ThreadSearch(Op, tag="thread.search", kw_only=True):
    """Full text over messages, pages and titles."""

    query: str
    limit: Annotated[int, Meta(ge=1, le=SEARCH_MAX)] = SEARCH_DEFAULT
    cursor: Cursor | UnsetType = UNSET
    thread_id: Id | UnsetType = UNSET
    within: list[Literal["messages", "pages", "titles"]] | UnsetType = field(default=UNSET, name="in")
    site: str | UnsetType = UNSET
    since: Millis | UnsetType = UNSET
    until: Millis | UnsetType = UNSET


class ThreadPage(Op, tag="thread.page", kw_only=True):
    """The part of the active path above a node."""

    thread_id: Id
    before_node_id: Id
    limit: Limit = SNAPSHOT_NODES


class BranchList(Op, tag="branch.list", kw_only=True):
    """The tips of a thread."""

    thread_id: Id


class BranchDelete(Op, tag="branch.delete", kw_only=True):
    """Makes a branch's tail tombstones."""

    thread_id: Id
    leaf_id: Id


class NodeDelete(Op, tag="node.delete", kw_only=True):
    """Makes a node a tombstone."""

    thread_id: Id
    node_id: Id


class NodeRestore(Op, tag="node.restore", kw_only=True):
    """Makes a tombstone a node again."""

    thread_id: Id
    node_id: Id


class NodeAppend(Op, tag="node.append", kw_only=True):
    """Adds a node; its payload is checked here as its type's, and stays as it came for the digest."""

    thread_id: Id
    parent_id: Id | UnsetType = UNSET
    node_type: Literal["user_message", "assistant_message", "system_notice"]
    payload: Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/AppendPayload"})]

    def __post_init__(self) -> None:
        try:
            convert(self.payload, BY_TYPE[self.node_type])
        except ValidationError as fault:
            # The decoder reports a ValueError with this text as its own.
            raise ValueError(under("payload", str(fault))) from None
