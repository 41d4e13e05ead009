"""A model request as the body of Anthropic's messages.

Thinking is asked for when `reasoningEffort` or `thinkingBudget` is set: adaptive, or with the quirk
`legacyThinkingBudget` (models before 4.6) with a budget of tokens. Models that think take no sampling
parameters, so none are sent then.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from sidekeep.providers.base import ContextText, ImageBlock, Message, ModelRequest, TextBlock

PROTOCOL = "anthropic-messages"
#: The field must be sent; this is what every model of the last years can write.
USUAL_MAX_TOKENS = 8192
_LEAST_BUDGET = 1024
_BUDGET_OF_EFFORT = {"minimal": 1024, "low": 4096, "medium": 10_000, "high": 20_000, "xhigh": 32_000, "max": 32_000}
_CACHE = {"type": "ephemeral"}


def body_of(request: ModelRequest, quirks: dict[str, Any]) -> dict[str, Any]:
    """The JSON body. What was not set is not sent."""
    messages = _messages(request)
    body: dict[str, Any] = {
        "model": request.model_id,
        "max_tokens": _param(request, "maxTokens") or USUAL_MAX_TOKENS,
        "messages": messages,
        "stream": True,
    }
    if request.system:
        body["system"] = [{"type": "text", "text": request.system}]
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        if request.closing:
            # Messages with calls in them are refused where no tools are declared.
            body["tool_choice"] = {"type": "none"}
        elif quirks.get("noParallelToolCalls"):
            body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    stop = _param(request, "stop")
    if stop:
        body["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    if not _think(body, request, quirks):
        for name, field in (("temperature", "temperature"), ("topP", "top_p")):
            value = _param(request, name)
            if value is not None:
                body[field] = value
    if request.prompt_cache:
        _mark(body, messages)
    return body


def _param(request: ModelRequest, name: str) -> Any:
    value = request.params.get(name)
    return None if value is UNSET else value


def _think(body: dict[str, Any], request: ModelRequest, quirks: dict[str, Any]) -> bool:
    """Ask for thinking if it is wanted; whether it is."""
    effort, budget = _param(request, "reasoningEffort"), _param(request, "thinkingBudget")
    if (not effort and not budget) or effort == "none":
        return False
    if quirks.get("legacyThinkingBudget"):
        tokens = max(_LEAST_BUDGET, int(budget or _BUDGET_OF_EFFORT.get(str(effort), 10_000)))
        body["thinking"] = {"type": "enabled", "budget_tokens": tokens}
        # The budget is part of the longest answer: what was asked for stays for the answer itself.
        body["max_tokens"] += tokens
        return True
    body["thinking"] = {"type": "adaptive"}
    if effort:
        body["output_config"] = {"effort": "low" if effort == "minimal" else effort}
    return True


def _mark(body: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    """Where the cache may end: after what every turn has in common, and after the conversation so far."""
    if "system" in body:
        body["system"][-1]["cache_control"] = _CACHE
    elif "tools" in body:
        body["tools"][-1]["cache_control"] = _CACHE
    last = messages[-1]["content"][-1] if messages else {}
    if last.get("type") in ("text", "image", "tool_result"):
        last["cache_control"] = _CACHE


def _messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Turns of user and model by turns; the results of tools are the user's, before anything else of theirs."""
    found: list[dict[str, Any]] = []
    for message in request.messages:
        role = "assistant" if message.role == "assistant" else "user"
        content = _content(message, request.model_id)
        if not content:
            continue
        if found and found[-1]["role"] == role:
            found[-1]["content"] += content
        else:
            found.append({"role": role, "content": content})
    if found and found[0]["role"] == "assistant":
        # The endpoint wants the user to begin; a conversation that was appended to need not.
        found.insert(0, {"role": "user", "content": [{"type": "text", "text": "(The assistant spoke first.)"}]})
    return found


def _content(message: Message, model_id: str) -> list[dict[str, Any]]:
    if message.role == "assistant":
        return _replayed(message, model_id) or _said(message)
    blocks = [part for part in map(_part, message.content) if part is not None]
    if message.role == "tool":
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": blocks}
        return [{**result, "is_error": True} if message.failed else result]
    return blocks


def _said(message: Message) -> list[dict[str, Any]]:
    text: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}
        for call in message.tool_calls
    ]
    return text + calls


def _replayed(message: Message, model_id: str) -> list[dict[str, Any]]:
    """The message's blocks as they came, signed and redacted thinking among them; empty when they do not fit.

    Another model refuses foreign signatures; a tool call has the id that it was stored under.
    """
    state = message.provider_state or {}
    if state.get("protocol") != PROTOCOL or state.get("model") != model_id:
        return []
    blocks: Sequence[dict[str, Any]] = state.get("content") or ()
    calls = [block for block in blocks if block["type"] == "tool_use"]
    said = "".join(block["text"] for block in blocks if block["type"] == "text")
    if len(calls) != len(message.tool_calls) or said.strip() != message.text.strip():
        return []
    ids = iter(message.tool_calls)
    return [{**block, "id": next(ids).id} if block["type"] == "tool_use" else dict(block) for block in blocks]


def _part(block: TextBlock | ContextText | ImageBlock) -> dict[str, Any] | None:
    match block:
        case ImageBlock(mime=mime, data=data):
            source = {"type": "base64", "media_type": mime, "data": b64encode(data).decode()}
            return {"type": "image", "source": source}
        case ContextText():
            text = block.whole
        case TextBlock(text=text):
            pass
    # The endpoint refuses a text block of white space.
    return {"type": "text", "text": text} if text.strip() else None


def _input(arguments: str) -> Any:
    """A call's arguments as an object; what is none was refused before it was stored, or came from elsewhere."""
    try:
        found = msgspec.json.decode(arguments) if arguments else {}
    except msgspec.DecodeError:
        found = None
    return found if isinstance(found, dict) else {"text": arguments}
