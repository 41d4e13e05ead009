"""What a node holds, by its type (first document, section 2.2), and what a user's input is made of.

Everything here is checked where it enters: unknown members are refused by name.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from sidekeep.model.limits import NAME_CHARACTERS

UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"

# The length too: `$` alone would let a trailing newline pass.
Id = Annotated[str, Meta(pattern=UUID_PATTERN, max_length=36)]
"""A lower-case UUID."""
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS)]
"""A name that is no UUID of ours: of a connection, a model, a folder, a client."""
Count = Annotated[int, Meta(ge=0)]
Millis = Annotated[int, Meta(ge=0)]
"""Milliseconds since 1970."""
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)]

Trust = Literal["trusted", "untrusted"]
Provenance = Literal["user", "page", "mcp", "tool", "import", "plugin"]
PermissionPolicy = Literal["always", "untrusted", "auto"]
ToolLevel = Literal["L0", "L1", "L2", "mcp", "builtin"]
NodeType = Literal[
    "user_message",
    "assistant_message",
    "tool_call",
    "tool_result",
    "approval_decision",
    "interaction_response",
    "turn_context",
    "system_notice",
]
StopReason = Literal["end", "max_tokens", "content_filter", "interrupted", "error", "budget_pause"]


class Strict(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The base of what comes in: members beyond the named ones are refused."""


class TextBlock(Strict, tag_field="type", tag="text", kw_only=True):
    """A piece of text."""

    text: str


class ImageBlock(Strict, tag_field="type", tag="image", kw_only=True):
    """An image, by its attachment."""

    attachment_id: Id
    mime: str


ContentBlock = TextBlock | ImageBlock


class ContextBlock(Strict, kw_only=True):
    """What was attached to a message: a page, a selection, a paste, a file or a skill."""

    kind: Literal["page", "selection", "paste", "file", "skill"]
    title: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    attachment_id: Id | UnsetType = UNSET
    trust: Trust
    provenance: Provenance


class Usage(Strict, kw_only=True):
    """Tokens of a model call; `input_tokens` is the total with cache reads and writes inside."""

    input_tokens: Count
    output_tokens: Count
    cache_read_tokens: Count | UnsetType = UNSET
    cache_write_tokens: Count | UnsetType = UNSET
    reasoning_tokens: Count | UnsetType = UNSET


class UserMessage(Strict, kw_only=True):
    """What the user said; `steered` when it came in the middle of a turn."""

    content: list[ContentBlock]
    attached_context: list[ContextBlock] | UnsetType = UNSET
    attachment_ids: list[Id] | UnsetType = UNSET
    steered: bool | UnsetType = UNSET


class AssistantMessage(Strict, kw_only=True):
    """What a model answered; `provider_state` is replayed to the same protocol as it came."""

    content: list[ContentBlock]
    model: str
    connection_id: str
    reasoning: str | UnsetType = UNSET
    provider_state: dict[str, Any] | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET
    stop_reason: str | UnsetType = UNSET


class ToolCall(Strict, kw_only=True):
    """A call that a model asked for; `params` is the provider's own JSON text."""

    item_id: str
    tool_name: str
    params: str
    level: ToolLevel


class ToolResult(Strict, kw_only=True):
    """What a tool gave: for the model, and `details` for the panel."""

    item_id: str
    ok: bool
    content_for_llm: list[ContentBlock]
    details: Any = UNSET


class ApprovalDecision(Strict, kw_only=True):
    """How an approval was answered."""

    kind: Literal["accept", "acceptForSession", "acceptForSite", "decline", "cancel"]
    note: str | UnsetType = UNSET


class ApprovalNode(Strict, kw_only=True):
    """An approval that was decided, with what was asked."""

    approval_id: Id
    request: dict[str, Any]
    decision: ApprovalDecision
    ts: Millis


class InteractionNode(Strict, kw_only=True):
    """An interaction that was answered, with what was asked."""

    interaction_id: Id
    request: dict[str, Any]
    response: dict[str, Any]
    responded_at: Millis


class TurnContext(Strict, kw_only=True):
    """Under what a turn runs: one node at its beginning."""

    turn_id: Id
    model: str
    permission_policy: PermissionPolicy
    active_skills: list[str]


class SystemNotice(Strict, kw_only=True):
    """A remark for the user that no model sees."""

    text: str
    code: str | UnsetType = UNSET


NodePayload = (
    UserMessage | AssistantMessage | ToolCall | ToolResult | ApprovalNode | InteractionNode | TurnContext | SystemNotice
)

BY_TYPE: dict[str, type[Strict]] = {
    "user_message": UserMessage,
    "assistant_message": AssistantMessage,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "approval_decision": ApprovalNode,
    "interaction_response": InteractionNode,
    "turn_context": TurnContext,
    "system_notice": SystemNotice,
}


def under(member: str, message: str) -> str:
    """msgspec's message about a value, told from the object that holds the value as `member`."""
    if " - at `$" in message:
        return message.replace(" - at `$", f" - at `$.{member}", 1)
    return f"{message} - at `$.{member}`"


class UserInput(Strict, kw_only=True):
    """What a turn begins with or is steered by."""

    content: list[ContentBlock]
    attached_context: list[ContextBlock] | UnsetType = UNSET
    attachment_ids: list[Id] | UnsetType = UNSET


class ModelRef(Strict, kw_only=True):
    """A model of a connection."""

    connection_id: Name
    model_id: Name


class TurnOverrides(Strict, kw_only=True):
    """What one turn does otherwise than the settings say."""

    model: ModelRef | UnsetType = UNSET
    permission_policy: PermissionPolicy | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET


class BrowserContext(Strict, kw_only=True):
    """The tab beside the panel when the turn was sent."""

    window_id: int
    tab_id: int
    url: str
    title: str
