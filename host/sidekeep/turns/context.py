"""The conversation as a model reads it, derived from the tree for one leaf.

Source: first document §4. From the leaf to the root, tombstones and notices skipped; turn contexts, approvals and
interactions are not sent; tool calls stand with their results under one assistant message. The system prompt is no
part of it.
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from sidekeep.providers.base import Block, Message, TextBlock, ToolCall
from sidekeep.store.damage import UNREADABLE_ERRORS
from sidekeep.store.path import PathNode, rows_to
from sidekeep.store.tx import Row, Tx
from sidekeep.turns.attachments import AttachmentReader
from sidekeep.turns.fences import Nonce, fenced, fresh_nonce, in_fences

NO_RESULT = "The call was cut off; there is no result."


class SessionContext(Struct):
    """What `session_context` derives. `turns` holds the index of each turn's first message."""

    messages: list[Message]
    turns: list[int]
    turn_context: dict[str, Any] | None
    visible: list[Row]

    @property
    def path(self) -> list[PathNode]:
        """The whole visible path, root first."""
        return [PathNode._make(row) for row in self.visible]


# Only what a model call needs of each payload, and text as the block that is sent: decoding less, and nothing
# twice, is what keeps a long path quick.
class _Image(Struct, tag_field="type", tag="image", rename="camel"):
    attachment_id: str


class _Attached(Struct, rename="camel"):
    kind: str
    trust: str
    provenance: str
    title: str = ""
    url: str = ""
    text: str | None = None
    attachment_id: str | None = None


def _plain(content: list[TextBlock | _Image]) -> bool:
    """One piece of text, as nearly all messages are."""
    return len(content) == 1 and type(content[0]) is TextBlock and content[0].text != ""


class _User(Struct, rename="camel", gc=False):
    content: list[TextBlock | _Image]
    attached_context: list[_Attached] = field(default_factory=list)
    attachment_ids: list[str] = field(default_factory=list)
    steered: bool = False

    def named(self) -> list[str]:
        """The attachments whose bytes this message needs."""
        ids = [] if _plain(self.content) else [b.attachment_id for b in self.content if type(b) is _Image]
        if self.attached_context:
            ids += [c.attachment_id for c in self.attached_context if c.text is None and c.attachment_id is not None]
        return ids + self.attachment_ids if self.attachment_ids else ids


class _Assistant(Struct, rename="camel", gc=False):
    content: list[TextBlock | _Image]
    reasoning: str | None = None
    provider_state: dict[str, Any] | None = None


class _Call(Struct, rename="camel"):
    item_id: str
    tool_name: str
    params: str


class _Result(Struct, rename="camel"):
    item_id: str
    ok: bool
    content_for_llm: list[TextBlock | _Image]


_user = msgspec.json.Decoder(_User).decode
_assistant = msgspec.json.Decoder(_Assistant).decode
_call = msgspec.json.Decoder(_Call).decode
_result = msgspec.json.Decoder(_Result).decode
_object = msgspec.json.Decoder(dict[str, Any]).decode


def session_context(tx: Tx, leaf: int | None, *, vision: bool = False, nonce: Nonce = fresh_nonce) -> SessionContext:
    """The context at a leaf (a node's key); empty for None. Reads the store, changes nothing."""
    path = rows_to(tx, leaf) if leaf is not None else []
    return _Derivation(AttachmentReader(tx, vision, nonce), nonce).derive(path)


def _piece(block: Block) -> Block:
    """What a tool read of a page gives way like an attached page when room is wanted."""
    return (in_fences(block.text) or block) if isinstance(block, TextBlock) else block


class _Derivation:
    """One pass over the path."""

    def __init__(self, attachments: AttachmentReader, nonce: Nonce) -> None:
        self._attachments = attachments
        self._nonce = nonce
        self._messages: list[Message] = []
        self._turns: list[int] = []
        self._results: dict[str, Message] = {}
        self._asking: Message | None = None  # the assistant message that calls belong to
        self._uneven = False  # calls to pair, or empty messages to leave out

    def derive(self, path: list[Row]) -> SessionContext:
        turn_context = None
        visible = []
        steps = {
            "user_message": self._on_user,
            "assistant_message": self._on_assistant,
            "tool_call": self._on_call,
            "tool_result": self._on_result,
        }
        for row in path:
            _k, _id, _parent, kind, deleted, payload = row
            if deleted or kind == "system_notice":
                continue
            try:
                if kind in steps:
                    steps[kind](payload)
                elif kind == "turn_context":
                    turn_context = _object(payload)
            except UNREADABLE_ERRORS:
                continue  # a damaged payload is left out; `verify` names it
            visible.append(row)
        if self._uneven:
            self._pair()
        return SessionContext(self._messages, self._turns, turn_context, visible)

    def _on_user(self, payload: bytes) -> None:
        said = _user(payload)
        if not said.steered:
            self._turns.append(len(self._messages))
        self._asking = None
        ids = said.named()
        whole: Any = said.content  # all text where nothing is attached
        self._messages.append(
            Message("user", self._with_attachments(said, ids) if ids or said.attached_context else whole)
        )

    def _with_attachments(self, said: _User, ids: list[str]) -> list[Block]:
        """What is attached stands before the words: a question is read best after its material."""
        if ids:
            self._attachments.learn(ids)
        blocks: list[Block] = [self._attached(context) for context in said.attached_context]
        blocks += [self._attachments.block(attachment_id) for attachment_id in said.attachment_ids]
        return blocks + self._blocks(said.content)

    def _attached(self, context: _Attached) -> Block:
        if context.text is None:
            return self._attachments.block(context.attachment_id or "")
        return fenced(
            context.text,
            kind=context.kind,
            trust=context.trust,
            provenance=context.provenance,
            title=context.title,
            url=context.url,
            nonce=self._nonce,
        )

    def _blocks(self, content: list[TextBlock | _Image]) -> list[Block]:
        return [
            block if isinstance(block, TextBlock) else self._attachments.block(block.attachment_id) for block in content
        ]

    def _on_assistant(self, payload: bytes) -> None:
        said = _assistant(payload)
        whole: Any = said.content
        content = whole if _plain(whole) else [b for b in whole if type(b) is TextBlock and b.text]
        self._asking = Message("assistant", content, reasoning=said.reasoning, provider_state=said.provider_state)
        if not content:
            self._uneven = True
        self._messages.append(self._asking)

    def _on_call(self, payload: bytes) -> None:
        call = _call(payload)
        if self._asking is None:
            # The message that asked was deleted; its calls still belong together.
            self._asking = Message("assistant")
            self._messages.append(self._asking)
        self._asking.tool_calls.append(ToolCall(call.item_id, call.tool_name, call.params))
        self._uneven = True

    def _on_result(self, payload: bytes) -> None:
        result = _result(payload)
        images = [b.attachment_id for b in result.content_for_llm if isinstance(b, _Image)]
        if images:
            self._attachments.learn(images)
        content = [_piece(block) for block in self._blocks(result.content_for_llm)]
        self._results[result.item_id] = Message("tool", content, tool_call_id=result.item_id, failed=not result.ok)

    def _pair(self) -> None:
        """Each call with its result behind its message, in the order of the calls, whenever the result came.

        An endpoint refuses a call without a result and a result without a call: the first gets one that says
        so, the second is left out, and so is a message that says nothing.
        """
        paired: list[Message] = []
        turns = iter([*self._turns, -1])
        start = next(turns)
        moved: list[int] = []
        for index, message in enumerate(self._messages):
            if index == start:
                moved.append(len(paired))
                start = next(turns)
            if message.role == "assistant" and not (message.content or message.tool_calls or message.provider_state):
                continue
            paired.append(message)
            paired += [self._result_of(call) for call in message.tool_calls]
        self._messages, self._turns = paired, moved

    def _result_of(self, call: ToolCall) -> Message:
        found = self._results.pop(call.id, None)
        return found or Message("tool", [TextBlock(NO_RESULT)], tool_call_id=call.id, failed=True)
