"""What a turn hands to a model and what a model hands back, the same for every kind of provider.

A request is plain data without ids of the store, so that it can be built, compared and kept by anybody:

    ModelRequest
      system       one text, may be empty
      messages     in order, oldest first; each Message is one of
                   user       content: text, context and image blocks
                   assistant  content: text blocks; tool_calls; reasoning; provider_state
                   tool       content: text (and image) blocks; tool_call_id, failed
      tools        what the model may call; empty for a model without tool use
      params       see PARAMS; an unset one is never sent

A provider answers with a stream of events that always ends in one Finished, or in a typed error of
`model.errors` (`provider_*`). A stream that ends without either is a fault of the provider's code.
"""

from collections.abc import AsyncGenerator, Callable
from typing import Any, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType, field

Role = Literal["user", "assistant", "tool"]
StopReason = Literal["end", "max_tokens", "content_filter", "tool_use"]

#: Parameters that providers know (`modelParameters` of a snapshot); each sends what its protocol has.
PARAMS = (
    "temperature",
    "topP",
    "maxTokens",
    "stop",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "reasoningEffort",
    "thinkingBudget",
)

#: Gives the value behind a secret's name. Called for each request, so that a rotated key is used at once;
#: raises `vault_locked` or `not_found`. Providers never keep what it returns.
Resolve = Callable[[str], str]


class TextBlock(Struct, tag="text", frozen=True, gc=False):
    """Words of the user, of the model or of a tool."""

    text: str


class ContextText(Struct, tag="context", frozen=True):
    """Attached text (page, selection, paste, file, skill) between its fences.

    Whoever builds the context writes the fences: `before` (with nonce, title, address) and `after`. A
    provider with a small window may shorten `text`, never the fences.
    """

    text: str
    before: str = ""
    after: str = ""
    kind: str = "page"
    title: str = ""
    url: str = ""

    @property
    def whole(self) -> str:
        """The text as a model reads it."""
        return f"{self.before}{self.text}{self.after}"


class ImageBlock(Struct, tag="image", frozen=True):
    """An image's bytes; a provider encodes them as its protocol wants."""

    mime: str
    data: bytes


Block = TextBlock | ContextText | ImageBlock


class ToolCall(Struct, tag="tool_call", frozen=True):
    """One call a model asked for, whole; `arguments` is the provider's own JSON text.

    As a stream event it comes only after the stream was found complete and its stop reason was tool use.
    `id` may be empty or repeat an older one: whoever stores it gives it a unique one.
    """

    id: str
    name: str
    arguments: str


class Message(Struct, gc=False):
    """One message of the conversation (see the module's docstring for what each role carries)."""

    role: Role
    content: list[Block] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    tool_call_id: str | None = None
    failed: bool = False
    reasoning: str | None = None
    #: What an earlier Finished of the same protocol gave, replayed as it came; others ignore it.
    provider_state: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """All text of the message as a model reads it, images left out."""
        parts = (
            b.whole if isinstance(b, ContextText) else b.text for b in self.content if not isinstance(b, ImageBlock)
        )
        return "\n\n".join(part for part in parts if part)


class ToolSpec(Struct, frozen=True):
    """A tool as the model sees it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ModelRequest(Struct, kw_only=True):
    """Everything one model call needs."""

    model_id: str
    system: str = ""
    messages: list[Message]
    tools: list[ToolSpec] = field(default_factory=list)
    #: The tools are only there because earlier calls name them: this answer may not call any.
    closing: bool = False
    params: dict[str, Any] = field(default_factory=dict)
    #: Ask the endpoint to cache the stable beginning (where its protocol has marks for it).
    prompt_cache: bool = False


class ProviderBinding(Struct, rename="camel", kw_only=True):
    """Where a model is reached: `providerBinding` of a run's snapshot, without any secret value."""

    kind: str
    connection_id: str
    protocol: str = ""
    base_url: str = ""
    quirks: dict[str, Any] = field(default_factory=dict)
    credentials: list[str] = field(default_factory=list)


class SecretHeader(Struct, frozen=True):
    """A connection's header whose value is a secret, by its name."""

    secret: str


class Usage(Struct, rename="camel", frozen=True):
    """Tokens of one call; `input_tokens` is the total, cache reads and writes inside."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | UnsetType = UNSET
    cache_write_tokens: int | UnsetType = UNSET
    reasoning_tokens: int | UnsetType = UNSET


class TextDelta(Struct, tag="text", frozen=True):
    """The next piece of the answer; never ends inside a character."""

    text: str


class ReasoningDelta(Struct, tag="reasoning", frozen=True):
    """The next piece of the model's thinking, to show, not to send back."""

    text: str


class ToolCallDelta(Struct, tag="tool_call_delta", frozen=True):
    """A piece of a tool call that is still being written; only for showing that it comes."""

    index: int
    name: str
    arguments: str


class UsageReport(Struct, tag="usage", frozen=True):
    """The figures known so far; a later one replaces it."""

    usage: Usage


class Progress(Struct, tag="progress", frozen=True):
    """Work before the first word: `note` is `loading` or `reading`, of `total` units `done` are behind us."""

    note: str
    done: int
    total: int


class ContextCut(Struct, tag="context_cut", frozen=True):
    """Part of the request was left out because the model's window is small; the panel shows `note`."""

    note: str
    kept_tokens: int
    total_tokens: int


class Finished(Struct, tag="finished", frozen=True):
    """The end of a whole stream."""

    stop_reason: StopReason
    usage: Usage
    #: The stop reason in the provider's own word.
    native: str = ""
    provider_state: dict[str, Any] | None = None


StreamEvent = TextDelta | ReasoningDelta | ToolCallDelta | ToolCall | UsageReport | Progress | ContextCut | Finished


class ModelInfo(Struct, rename="camel", kw_only=True):
    """A model an endpoint offers; capabilities only where the endpoint tells them."""

    id: str
    display_name: str | UnsetType = UNSET
    tool_use: bool | UnsetType = UNSET
    vision: bool | UnsetType = UNSET
    max_context: int | UnsetType = UNSET


class Provider(Protocol):
    """One connection, ready to be asked. Used from one asyncio loop; several streams may run at once."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Ask. Cancelling the task that iterates, or closing the generator (`contextlib.aclosing`, needed
        where the loop is left early), ends the upstream request or the worker's generation at once."""
        ...

    async def models(self) -> list[ModelInfo]:
        """What can be asked here, as the endpoint lists it."""
        ...

    async def aclose(self) -> None:
        """Let connections and workers go. A later `stream` may open them again."""
        ...
