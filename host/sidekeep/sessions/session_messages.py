"""A node of the tree as a message of `SessionStore`, and the other way round."""

from typing import Any

import msgspec

from sidekeep.model.errors import InvalidCommand
from sidekeep.model.payloads import BY_TYPE
from sidekeep.store.damage import readable
from sidekeep.store.tree import Node

ROLES = {
    "user_message": "user",
    "assistant_message": "assistant",
    "system_notice": "system",
    "tool_call": "tool_call",
    "tool_result": "tool",
    "approval_decision": "approval",
}
_TYPES = {"user": "user_message", "assistant": "assistant_message", "system": "system_notice"}
_OWN = frozenset(("id", "parent_id", "role", "content", "created_at", "model", "connection_id", "reasoning", "usage",
                  "stop_reason", "attachment_ids", "code"))  # fmt: skip
#: Members of a message → members of its payload, besides the content.
_MORE = {
    "user_message": {"attachment_ids": "attachmentIds"},
    "assistant_message": {
        "model": "model", "connection_id": "connectionId", "reasoning": "reasoning", "usage": "usage",
        "stop_reason": "stopReason",
    },
    "system_notice": {"code": "code"},
}  # fmt: skip


def message_of(node: Node, parent_id: str | None) -> dict[str, Any]:
    """`{id, parent_id, role, content, created_at, payload}`; `content` is its text, `payload` all that it holds.

    `created_at` in seconds since 1970. A payload that the disk damaged is told as a notice in its place.
    """
    shown = readable(node)
    payload: dict[str, Any] = msgspec.json.decode(shown.payload)
    return {
        "id": node.id,
        "parent_id": parent_id,
        "role": ROLES[shown.type],
        "content": text_of(shown.type, payload),
        "created_at": node.ts / 1000,
        "payload": payload,
    }


def text_of(kind: str, payload: dict[str, Any]) -> str:
    """The words of a payload."""
    if kind == "system_notice":
        return str(payload.get("text") or "")
    if kind == "tool_call":
        return f"{payload.get('toolName')}({payload.get('params')})"
    blocks = payload.get("contentForLlm" if kind == "tool_result" else "content") or ()
    return "\n\n".join(block["text"] for block in blocks if block.get("type") == "text")


def payload_of(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The node type and the payload of a message that is to be appended.

    Raises InvalidCommand, which names the member that is wrong.
    """
    role = message.get("role")
    kind = _TYPES.get(role) if isinstance(role, str) else None
    if kind is None:
        raise InvalidCommand(f"role: is {role!r}, where one of {', '.join(_TYPES)} can be appended.")
    unknown = sorted(set(message) - _OWN)
    if unknown:
        raise InvalidCommand(f"{unknown[0]}: is no member of a message.")
    payload: dict[str, Any] = {}
    if kind == "system_notice":
        payload["text"] = _text(message)
    else:
        payload["content"] = _blocks(message)
    for member, name in _MORE[kind].items():
        if message.get(member) is not None:
            payload[name] = message[member]
    if kind == "assistant_message":
        payload.setdefault("model", "")
        payload.setdefault("connectionId", "")
    misplaced = sorted(_given(message) - set(_MORE[kind]) - {"id", "parent_id", "role", "content", "created_at"})
    if misplaced:
        raise InvalidCommand(f"{misplaced[0]}: is no member of a message of role {role}.")
    payload = _well_formed(payload)
    try:
        msgspec.convert(payload, BY_TYPE[kind])
    except msgspec.ValidationError as error:
        raise InvalidCommand(f"message: {error}") from None
    return kind, payload


def _given(message: dict[str, Any]) -> set[str]:
    return {name for name, value in message.items() if value is not None}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, str):
        raise InvalidCommand("content: is text in a message of role system.")
    return content


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return content
    raise InvalidCommand("content: is text, or a list of content blocks.")


def _well_formed(value: Any) -> Any:
    """Text is any Unicode; a lone surrogate becomes U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_well_formed(each) for each in value]
    if isinstance(value, dict):
        return {_well_formed(name): _well_formed(each) for name, each in value.items()}
    return value
