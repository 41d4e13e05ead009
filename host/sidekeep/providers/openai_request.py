"""A model request as the body of a chat completion, by what the endpoint is known to need (`quirks`).

maxTokensField        name of the field for the longest answer; api.openai.com has `max_completion_tokens`
noStreamOptions       does not know `stream_options`, so usage comes only if it sends it by itself
noParallelToolCalls   is asked for one tool call at a time
noSystemRole          takes no system message: its text goes before the user's first
thinkTags             writes its thinking into the answer, between <think> and </think>
noEndMark             ends its stream without `[DONE]`
"""

from base64 import b64encode
from typing import Any

from msgspec import UNSET

from sidekeep.providers.base import ContextText, ImageBlock, Message, ModelRequest, TextBlock

#: PARAMS of base.py → the field's name here
_FIELDS = {
    "temperature": "temperature",
    "topP": "top_p",
    "stop": "stop",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "reasoningEffort": "reasoning_effort",
}


def body_of(request: ModelRequest, quirks: dict[str, Any], usual_max_tokens_field: str) -> dict[str, Any]:
    """The JSON body. What was not set is not sent."""
    body: dict[str, Any] = {"model": request.model_id, "messages": _messages(request, quirks), "stream": True}
    if not quirks.get("noStreamOptions"):
        body["stream_options"] = {"include_usage": True}
    for name, field in _FIELDS.items():
        value = request.params.get(name)
        if value is not None and value is not UNSET:
            body[field] = value
    most = request.params.get("maxTokens")
    if most is not None and most is not UNSET:
        body[str(quirks.get("maxTokensField") or usual_max_tokens_field)] = most
    if request.tools and not request.closing:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
        if quirks.get("noParallelToolCalls"):
            body["parallel_tool_calls"] = False
    return body


def _messages(request: ModelRequest, quirks: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    images: list[ImageBlock] = []
    for message in request.messages:
        if message.role != "tool" and images:
            found.append(_shown(images))
            images = []
        if message.role == "tool":
            found.append({"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.text})
            images += [block for block in message.content if isinstance(block, ImageBlock)]
        elif message.role == "assistant":
            found += _assistant(message)
        elif message.content:
            found.append({"role": "user", "content": _content(message)})
    if images:
        found.append(_shown(images))
    if request.system:
        _put_system(found, request.system, bool(quirks.get("noSystemRole")))
    return found


def _put_system(messages: list[dict[str, Any]], system: str, with_user: bool) -> None:
    if not with_user:
        messages.insert(0, {"role": "system", "content": system})
        return
    first = next((message for message in messages if message["role"] == "user"), None)
    if first is None:
        messages.insert(0, {"role": "user", "content": system})
    elif isinstance(first["content"], str):
        first["content"] = f"{system}\n\n{first['content']}"
    else:
        first["content"].insert(0, {"type": "text", "text": system})


def _assistant(message: Message) -> list[dict[str, Any]]:
    """The model's own message; one that says and calls nothing is left out, endpoints refuse it."""
    if not message.text and not message.tool_calls:
        return []
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.tool_calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
            for call in message.tool_calls
        ]
    return [said]


def _content(message: Message) -> str | list[dict[str, Any]]:
    """Plain text where there is no image: not every endpoint takes parts."""
    if not any(isinstance(block, ImageBlock) for block in message.content):
        return message.text
    return [_part(block) for block in message.content]


def _part(block: TextBlock | ContextText | ImageBlock) -> dict[str, Any]:
    match block:
        case ImageBlock(mime=mime, data=data):
            return {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{b64encode(data).decode()}"}}
        case ContextText():
            return {"type": "text", "text": block.whole}
        case TextBlock(text=text):
            return {"type": "text", "text": text}


def _shown(images: list[ImageBlock]) -> dict[str, Any]:
    """What tools have shown: a tool's message takes no image, so they follow as the user's."""
    text: list[dict[str, Any]] = [{"type": "text", "text": "The images that the tools returned:"}]
    return {"role": "user", "content": text + [_part(image) for image in images]}
