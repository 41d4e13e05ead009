"""Leaves out what does not fit the model: page texts of the oldest turns first, then whole oldest turns.

Tokens are estimated from the text, a little high; the newest turn is never left out. What was cut is told, so that
the panel can show it.
"""

from dataclasses import dataclass

from sidekeep.providers.base import Block, ContextText, ImageBlock, Message, TextBlock
from sidekeep.turns.context import SessionContext

_IMAGE_TOKENS = 1_000
_MESSAGE_TOKENS = 6
_SAFETY = 0.92
_LEAST_TEXT = 400  # characters of a page that are kept when even the newest turn is too long


@dataclass
class Cut:
    """How much was left out; `note()` is None when nothing was."""

    page_texts: int = 0
    turns: int = 0
    shortened: int = 0

    def note(self) -> dict[str, int] | None:
        said = {"pageTexts": self.page_texts, "turns": self.turns, "shortened": self.shortened}
        return {name: count for name, count in said.items() if count} or None


def tokens_of(text: str) -> int:
    """An estimate: four ASCII characters a token, one of any other. Each counts for itself: a single dash in a long
    English page does not make the page longer."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return plain // 4 + (len(text) - plain) + 1


def budget_for(max_context: int, max_output: int | None, system: str) -> int:
    """Tokens that messages may take: the window without the answer and the system prompt."""
    answer = max_output if max_output else min(4_096, max_context // 4)
    return int((max_context - min(answer, max_context // 2)) * _SAFETY) - tokens_of(system)


def size_of(messages: list[Message]) -> int:
    """The estimate for a whole request."""
    return sum(_cost(message) for message in messages)


def fit(context: SessionContext, budget: int) -> Cut:
    """Cut `context.messages` (and `turns`) in place until the estimate is within the budget, as far as possible."""
    messages, turns = context.messages, context.turns
    costs = [_cost(message) for message in messages]
    total = sum(costs)
    cut = Cut()
    newest = turns[-1] if turns else 0
    for index in range(newest):
        if total <= budget:
            return cut
        left_out = _without_page_texts(messages[index])
        if left_out is not None:
            messages[index], count = left_out
            cut.page_texts += count
            total -= costs[index]
            costs[index] = _cost(messages[index])
            total += costs[index]
    while total > budget and len(turns) > 1:
        begins, ends = turns[0], turns[1]
        total -= sum(costs[begins:ends])
        del messages[begins:ends], costs[begins:ends]
        context.turns = turns = [begins, *(index - (ends - begins) for index in turns[2:])]
        cut.turns += 1
    if total > budget and messages:
        cut.shortened = _shorten(messages, turns[-1] if turns else 0, total - budget)
    return cut


def _cost(message: Message) -> int:
    tokens = _MESSAGE_TOKENS
    for block in message.content:
        tokens += _IMAGE_TOKENS if isinstance(block, ImageBlock) else tokens_of(_read(block))
    return tokens + sum(tokens_of(call.arguments) + tokens_of(call.name) for call in message.tool_calls)


def _read(block: ContextText | TextBlock) -> str:
    return block.whole if isinstance(block, ContextText) else block.text


def _without_page_texts(message: Message) -> tuple[Message, int] | None:
    """The message with a line in place of each attached text, and how many there were."""
    count = sum(isinstance(block, ContextText) for block in message.content)
    if not count:
        return None
    content = [_stand_in(block) if isinstance(block, ContextText) else block for block in message.content]
    return Message(message.role, content, message.tool_calls, message.tool_call_id, message.failed), count


def _stand_in(block: ContextText) -> Block:
    name = f" \u201c{block.title}\u201d" if block.title else ""
    where = f" ({block.url})" if block.url else ""
    return TextBlock(f"[Attached text{name}{where} stood here; it was left out to make room.]")


def _shorten(messages: list[Message], newest: int, excess: int) -> int:
    """Take the excess from the ends of the newest turn's attached texts, the longest first."""
    places = [
        (len(block.text), at, index)
        for at in range(newest, len(messages))
        for index, block in enumerate(messages[at].content)
        if isinstance(block, ContextText)
    ]
    shortened = 0
    for length, at, index in sorted(places, reverse=True):
        if excess <= 0:
            break
        block = messages[at].content[index]
        assert isinstance(block, ContextText)
        whole = tokens_of(block.text)
        kept = max(_LEAST_TEXT, int(length * max(0.0, 1 - excess / whole)) - 40)
        if kept >= length:
            continue
        text = block.text[:kept].rstrip() + "\n[\u2026 the rest was left out to make room]"
        excess -= whole - tokens_of(text)
        messages[at].content[index] = ContextText(text, block.before, block.after, block.kind, block.title, block.url)
        shortened += 1
    return shortened
