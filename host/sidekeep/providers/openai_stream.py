"""What a chat completion's chunks add up to: deltas at once, tool calls and the end once the stream is whole."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from sidekeep.model.errors import ProviderProtocol
from sidekeep.providers import faults
from sidekeep.providers.base import (
    Finished,
    ReasoningDelta,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
    UsageReport,
)
from sidekeep.providers.faults import Redactor
from sidekeep.providers.pieces import ThinkTags, WholeCharacters, read_json

_STOPS: dict[str, StopReason] = {
    "stop": "end",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct):
    content: str | list[dict[str, Any]] | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    index: int | None = 0
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class _Growing(Struct):
    """A tool call that is still being written."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Collector:
    """Takes the data of one stream's events in order; `end` once its end mark has come."""

    def __init__(self, who: str, redact: Redactor, *, think_tags: bool = False) -> None:
        self._who = who
        self._redact = redact
        self._text, self._thought = WholeCharacters(), WholeCharacters()
        self._tags = ThinkTags() if think_tags else None
        self._calls: dict[int, _Growing] = {}
        self._finish: str | None = None
        self._usage: Usage | None = None

    @property
    def finished(self) -> bool:
        """Whether a finish reason has come."""
        return self._finish is not None

    def take(self, data: str) -> Iterator[StreamEvent]:
        """Raises ProviderProtocol for what is no chunk, and the error that a chunk may carry."""
        chunk = self._decoded(data)
        if chunk.error:
            raise faults.refusal(0, faults.told_by({"error": chunk.error}), self._who, self._redact)
        for choice in chunk.choices or ():
            if choice.index:
                continue  # only one answer was asked for
            if choice.delta is not None:
                yield from self._delta(choice.delta)
            self._finish = choice.finish_reason or self._finish
        if chunk.usage:
            usage = usage_of(chunk.usage)
            if usage is not None and usage != self._usage:
                self._usage = usage
                yield UsageReport(usage)

    def end(self) -> Iterator[StreamEvent]:
        """Raises ProviderProtocol for a stream that is not whole or contradicts itself."""
        reason = _STOPS.get(self._finish or "")
        if self._finish is None:
            raise ProviderProtocol(f"The answer of {self._who} ended without saying why it stopped.")
        if reason is None:
            raise ProviderProtocol(f"{self._who} stopped for an unknown reason ({self._redact(self._finish)[:60]}).")
        if (reason == "tool_use") != bool(self._calls):
            raise ProviderProtocol(f"The answer of {self._who} says {self._finish}, which its tool calls contradict.")
        yield from self._reasoned(self._thought.rest())
        yield from self._said(self._text.rest())
        if self._tags is not None:
            yield from self._tags.rest()
        for _, call in sorted(self._calls.items()):
            if not call.name:
                raise ProviderProtocol(f"{self._who} called a tool without its name.")
            yield ToolCall(call.id, call.name, "".join(call.arguments))
        yield Finished(reason, self._usage or Usage(0, 0), native=self._finish)

    def _decoded(self, data: str) -> _Chunk:
        try:
            return _read(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise ProviderProtocol(f"{self._who} sent something that is no part of an answer.") from None

    def _delta(self, delta: _Delta) -> Iterator[StreamEvent]:
        thought = delta.reasoning_content or (delta.reasoning if isinstance(delta.reasoning, str) else "")
        text = delta.content
        if isinstance(text, list):
            # Parts as Mistral sends them: `text`, and `thinking` with parts of its own.
            thought += "".join(_text_of(part.get("thinking")) for part in text if part.get("type") == "thinking")
            text = "".join(_text_of(part.get("text")) for part in text if part.get("type") == "text")
        yield from self._reasoned(self._thought.take(thought))
        yield from self._said(self._text.take((text or "") + (delta.refusal or "")))
        for call in delta.tool_calls or ():
            yield from self._call(call)

    def _reasoned(self, text: str) -> Iterator[StreamEvent]:
        if text:
            yield ReasoningDelta(text)

    def _said(self, text: str) -> Iterator[StreamEvent]:
        if not text:
            return
        if self._tags is not None:
            yield from self._tags.take(text)
        else:
            yield TextDelta(text)

    def _call(self, piece: _Call) -> Iterator[StreamEvent]:
        index = self._place(piece)
        call = self._calls.setdefault(index, _Growing())
        call.id = call.id or piece.id or ""
        if piece.function is None:
            return
        call.name = call.name or piece.function.name or ""
        arguments = piece.function.arguments
        if arguments is not None and not isinstance(arguments, str):
            arguments = msgspec.json.encode(arguments).decode()
        if arguments:
            call.arguments.append(arguments)
        yield ToolCallDelta(index, call.name, arguments or "")

    def _place(self, piece: _Call) -> int:
        """The call that a piece belongs to; without an index a new id begins a new call."""
        if piece.index is not None:
            return piece.index
        for index, call in self._calls.items():
            if piece.id and call.id == piece.id:
                return index
        if piece.id or not self._calls:
            return len(self._calls)
        return max(self._calls)


def usage_of(told: dict[str, Any]) -> Usage | None:
    """An endpoint's figures; None when it gives no count of tokens."""
    sent, written = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    if sent is None or written is None:
        return None
    details = told.get("prompt_tokens_details") or {}
    out = told.get("completion_tokens_details") or {}
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    if cached is None:
        cached = _count(told.get("prompt_cache_hit_tokens"))
    thought = _count(out.get("reasoning_tokens")) if isinstance(out, dict) else None
    return Usage(
        sent,
        written,
        cache_read_tokens=msgspec.UNSET if cached is None else cached,
        reasoning_tokens=msgspec.UNSET if thought is None else thought,
    )


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _text_of(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_text_of(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


_decoder = msgspec.json.Decoder(_Chunk)


def _read(data: str) -> _Chunk:
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(read_json(data), _Chunk)
