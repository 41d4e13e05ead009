"""What the events of one message add up to: deltas at once, tool calls, replayable blocks and the end once whole."""

from collections.abc import Iterator
from typing import Any

import msgspec

from sidekeep.model.errors import ProviderProtocol
from sidekeep.providers import faults
from sidekeep.providers.anthropic_request import PROTOCOL
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
from sidekeep.providers.pieces import WholeCharacters, read_json

_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "tool_use": "tool_use",
    "refusal": "content_filter",
}
_THINKING = ("thinking", "redacted_thinking")
_FIGURES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Collector:
    """Takes one stream's events in order; `end` once `message_stop` has come."""

    def __init__(self, who: str, redact: Redactor, model_id: str) -> None:
        self._who = who
        self._redact = redact
        self._model_id = model_id
        self._characters = WholeCharacters()
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._figures: dict[str, int] = {}
        self._stop: str | None = None
        self.stopped = False

    def take(self, data: str) -> Iterator[StreamEvent]:
        """Raises ProviderProtocol for what is no event, and the error that an event may carry."""
        event = self._decoded(data)
        try:
            match event.get("type"):
                case "message_start":
                    yield from self._count(event["message"].get("usage"))
                case "content_block_start":
                    yield from self._begin(int(event["index"]), event["content_block"])
                case "content_block_delta":
                    yield from self._delta(int(event["index"]), event["delta"])
                case "message_delta":
                    self._stop = event["delta"].get("stop_reason") or self._stop
                    yield from self._count(event.get("usage"))
                case "message_stop":
                    self.stopped = True
                case "error":
                    raise faults.refusal(0, faults.told_by(event), self._who, self._redact)
                # `ping`, `content_block_stop`, and what later versions add, say nothing that is missed.
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._no_event() from None

    def end(self) -> Iterator[StreamEvent]:
        """Raises ProviderProtocol for a stream that is not whole or contradicts itself."""
        if not self.stopped or self._stop is None:
            raise ProviderProtocol(f"The answer of {self._who} broke off before its end mark.")
        reason = _STOPS.get(self._stop)
        calls = [(index, block) for index, block in sorted(self._blocks.items()) if block["type"] == "tool_use"]
        if reason is None:
            raise ProviderProtocol(f"{self._who} stopped for an unknown reason ({self._redact(self._stop)[:60]}).")
        if (reason == "tool_use") != bool(calls) and reason != "max_tokens":
            raise ProviderProtocol(f"The answer of {self._who} says {self._stop}, which its tool calls contradict.")
        if rest := self._characters.rest():
            yield TextDelta(rest)
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "tool_use":
                text = "".join(self._inputs[index])
                if reason == "tool_use":
                    block["input"] = self._whole_input(text) if text else block.get("input") or {}
                    yield ToolCall(str(block["id"]), str(block["name"]), text or _dumped(block["input"]))
        yield Finished(reason, self._usage(), native=self._stop, provider_state=self._state(reason))

    def _decoded(self, data: str) -> dict[str, Any]:
        try:
            event = read_json(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise self._no_event() from None
        if not isinstance(event, dict):
            raise self._no_event()
        return event

    def _no_event(self) -> ProviderProtocol:
        return ProviderProtocol(f"{self._who} sent something that is no part of an answer.")

    def _begin(self, index: int, block: dict[str, Any]) -> Iterator[StreamEvent]:
        self._blocks[index] = block = dict(block)
        kind = block["type"]
        if kind == "tool_use":
            self._inputs[index] = []
            yield ToolCallDelta(index, str(block["name"]), "")
        elif kind == "text" and block.get("text"):
            yield from self._text(block["text"])
        elif kind == "thinking" and block.get("thinking"):
            yield ReasoningDelta(block["thinking"])

    def _delta(self, index: int, delta: dict[str, Any]) -> Iterator[StreamEvent]:
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
                yield from self._text(delta["text"])
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
                if delta["thinking"]:
                    yield ReasoningDelta(delta["thinking"])
            case "signature_delta":
                block["signature"] = block.get("signature", "") + delta["signature"]
            case "input_json_delta":
                piece = delta["partial_json"]
                self._inputs[index].append(piece)
                if piece:
                    yield ToolCallDelta(index, str(block["name"]), piece)

    def _text(self, piece: str) -> Iterator[StreamEvent]:
        if text := self._characters.take(piece):
            yield TextDelta(text)

    def _whole_input(self, text: str) -> Any:
        try:
            found = read_json(text)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise ProviderProtocol(f"{self._who} called a tool with arguments that are no JSON.") from None
        if not isinstance(found, dict):
            raise ProviderProtocol(f"{self._who} called a tool with arguments that are no object.")
        return found

    def _count(self, told: Any) -> Iterator[StreamEvent]:
        if not isinstance(told, dict):
            return
        new = {name: int(told[name]) for name in _FIGURES if isinstance(told.get(name), int)}
        if new.items() <= self._figures.items():
            return
        self._figures |= new
        yield UsageReport(self._usage())

    def _usage(self) -> Usage:
        """`input_tokens` of the protocol leaves out what came from the cache or went into it."""
        read = self._figures.get("cache_read_input_tokens")
        written = self._figures.get("cache_creation_input_tokens")
        return Usage(
            self._figures.get("input_tokens", 0) + (read or 0) + (written or 0),
            self._figures.get("output_tokens", 0),
            cache_read_tokens=msgspec.UNSET if read is None else read,
            cache_write_tokens=msgspec.UNSET if written is None else written,
        )

    def _state(self, reason: str) -> dict[str, Any] | None:
        """Blocks to be sent back as they came; only needed where there is thinking, only whole ones."""
        blocks = [block for _, block in sorted(self._blocks.items())]
        if not any(block["type"] in _THINKING for block in blocks):
            return None
        if reason != "tool_use":
            blocks = [block for block in blocks if block["type"] != "tool_use"]
        kept = [block for block in blocks if block["type"] != "text" or block.get("text", "").strip()]
        return {"protocol": PROTOCOL, "model": self._model_id, "content": kept}


def _dumped(value: Any) -> str:
    return msgspec.json.encode(value).decode()
