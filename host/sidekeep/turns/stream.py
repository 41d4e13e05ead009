"""What comes out of a model call while it comes: kept in full, shown at once, and how it ended."""

from typing import Any, Protocol

import msgspec

from sidekeep.model.clock import now_ms
from sidekeep.model.errors import ProviderProtocol, SidekeepError
from sidekeep.providers.base import (
    ContextCut,
    Finished,
    Progress,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
    UsageReport,
)
from sidekeep.turns.finish import Said, cost_of

STOP_REASONS = {"end": "end", "max_tokens": "max_tokens", "content_filter": "content_filter"}


class Live(Protocol):
    """Where an attempt shows what it says (the runner's live file)."""

    def start(self, item_id: str, kind: str, meta: dict[str, Any]) -> None: ...

    def add(self, item_id: str, member: str, value: Any) -> None: ...

    def flush(self) -> None: ...

    def end(self, item_id: str, node_id: str) -> None: ...


class Answer:
    """The message that a model call writes. After `close` nothing more is taken in."""

    def __init__(
        self,
        live: Live,
        item_id: str,
        said: Said,
        pricing: dict[str, Any] | None,
        meta: dict[str, Any],
        *,
        tools: bool = False,
    ) -> None:
        """`tools`: whether the model was offered any; `calls` holds what it asked for, once the answer is whole."""
        self._live = live
        self._item_id = item_id
        self._said = said
        self._pricing = pricing
        self._meta = meta
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._started = self._closed = False
        self._tools = tools
        self.calls: list[ToolCall] = []
        self.stop_reason: str | None = None

    def take(self, event: StreamEvent) -> None:
        """Raises ProviderProtocol for what this call cannot have: a tool call where no tool was offered."""
        if self._closed:
            return
        match event:
            case TextDelta(text):
                self._add("text", self._text, text)
            case ReasoningDelta(text):
                self._add("reasoning", self._reasoning, text)
            case Progress(note, done, total):
                self._show("toolProgress", {"note": note, "done": done, "total": total})
            case ContextCut(note, kept, total):
                self._show("toolProgress", {"cut": note, "keptTokens": kept, "totalTokens": total})
            case UsageReport(usage):
                self._count(usage)
            case Finished():
                self._finish(event)
            case ToolCall() if self._tools:
                self.calls.append(event)
            case ToolCallDelta() if self._tools:
                return  # shown once it is whole and on disk
            case ToolCall() | ToolCallDelta():
                raise ProviderProtocol("The model asked for a tool although it was offered none.")

    @property
    def has_spoken(self) -> bool:
        """Whether a word of it was shown."""
        return bool(self._text or self._reasoning)

    def waits(self, fault: SidekeepError, attempt: int, of: int, seconds: float) -> None:
        """Show that the endpoint could not answer now, and when it is asked again."""
        until = now_ms() + int(seconds * 1000)
        told = {"code": fault.code, "message": fault.message, "until": until}
        self._show("toolProgress", {"note": "retrying", "done": attempt, "total": of, **told})

    def _finish(self, event: Finished) -> None:
        reason = "tool_use" if self.calls else STOP_REASONS.get(event.stop_reason)
        if reason is None:
            raise ProviderProtocol(f"The model stopped for a reason that does not fit ({event.native}).")
        self._count(event.usage)
        self._said.provider_state = event.provider_state
        self.stop_reason = reason
        if not self._started:
            self._begin()

    def close(self) -> Said:
        """All that was said, every piece of it in the live file."""
        if not self._closed:
            self._closed = True
            self._said.text = "".join(self._text)
            self._said.reasoning = "".join(self._reasoning)
            if self._started:
                self._live.flush()
        return self._said

    def _add(self, member: str, pieces: list[str], text: str) -> None:
        if text:
            text = well_formed(text)
            pieces.append(text)
            self._show(member, text)

    def _show(self, member: str, value: Any) -> None:
        if not self._started:
            self._begin()
        self._live.add(self._item_id, member, value)

    def _begin(self) -> None:
        self._started = True
        self._said.items.append(self._item_id)
        self._live.start(self._item_id, "assistant_message", self._meta)

    def _count(self, usage: Usage) -> None:
        self._said.usage = msgspec.to_builtins(usage)
        assert self._said.usage is not None
        self._said.cost_usd = cost_of(self._said.usage, self._pricing)


def well_formed(text: str) -> str:
    """The text with U+FFFD for each lone surrogate; pairs that came as two become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
