"""Makes a conversation fit the local model: which sentences of the page, and which older messages, it reads.

A model of this size answers best from little text: a whole page makes it mix things up, and each thousand
tokens cost seconds of reading. So of a long text only the sentences that matter for the question are kept,
in their order, and what was left out is reported.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from sidekeep.providers.local_protocol import Part, Said
from sidekeep.providers.salience import asks_for_summary, central, closest
from sidekeep.providers.sentences import sentences, words

Count = Callable[[str], int]

#: Tokens of attached text that are read, by what is asked. Summaries of the larger share were worse.
SUMMARY_TOKENS = 400
QUESTION_TOKENS = 700
#: No sentence may take more than this share of the room.
_SENTENCE_SHARE = 2
#: What the chat template puts around a message.
_AROUND = 8
_GAP = " … "


class Fitted(Struct):
    """What is read, and how many of the conversation's tokens that is; `note` is empty when it is all."""

    messages: list[Said]
    kept: int
    total: int
    note: str = ""


def fit(messages: Sequence[Said], tokens: int, count: Count) -> Fitted:
    """Keep the last message always, its texts by their best sentences, then older messages while they fit.

    `tokens` is the room for all messages together; `count` gives the tokens of a text.
    """
    question = _question(messages)
    whole = [_size(said, count) for said in messages]
    newest = _newest_with_text(messages)
    shortened = [
        _shorten(said, question, _room(question, tokens) if index == newest else 0, count)
        for index, said in enumerate(messages)
    ]
    sizes = [_size(said, count) for said in shortened]
    # A page that lies further back than what fits would be lost with its message: it moves to the question.
    start = _first_that_fits(sizes, tokens)
    if 0 <= newest < start:
        fenced = [part for part in shortened[newest].parts if part.fenced]
        last = shortened[-1]
        shortened[-1] = Said(last.role, [*fenced, *last.parts])
        sizes[-1] = _size(shortened[-1], count)
        start = _first_that_fits(sizes, tokens)
    kept = sum(sizes[start:])
    return Fitted(shortened[start:], kept, sum(whole), _note(kept, sum(whole), start > 0))


def best_sentences(text: str, question: str, room: int, count: Count) -> str:
    """The sentences of a text that matter for the question, in order, in at most `room` tokens."""
    if room <= 0:
        return ""
    found = [_clipped(sentence, room // _SENTENCE_SHARE, count) for sentence in sentences(text)]
    if not found:
        return ""
    enough = max(4, room // 12)
    ranked: list[int] = []
    if not asks_for_summary(question):
        ranked = closest(found, words(question), enough)
    # The beginning says what the text is about; what is left of the room goes to what it says most.
    ranked = list(dict.fromkeys([*ranked, 0, *central(found, enough)]))
    chosen: set[int] = set()
    for index in ranked:
        cost = count(found[index]) + 1
        if cost <= room:
            chosen.add(index)
            room -= cost
    return _joined(found, sorted(chosen))


def _joined(found: Sequence[str], chosen: Sequence[int]) -> str:
    pieces: list[str] = []
    for place, index in enumerate(chosen):
        if place:
            pieces.append(" " if chosen[place - 1] == index - 1 else _GAP)
        pieces.append(found[index])
    return "".join(pieces)


def _clipped(sentence: str, room: int, count: Count) -> str:
    """A sentence that is too long, cut at a word: pages have lines of any length."""
    if count(sentence) <= room:
        return sentence
    low, high = 0, len(sentence)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(sentence[:middle]) <= room else (low, middle - 1)
    cut = sentence[:low]
    return (cut[: cut.rfind(" ")] if " " in cut else cut) + " …"


def _shorten(said: Said, question: str, room: int, count: Count) -> Said:
    """A message with its attached texts brought to `room` tokens together; 0 leaves them out."""
    fenced = [part for part in said.parts if part.fenced]
    if not fenced or sum(count(part.text) for part in fenced) <= room:
        return said
    share = room // len(fenced)
    parts = [
        Part(best_sentences(part.text, question, share, count), part.before, part.after, True) if part.fenced else part
        for part in said.parts
    ]
    return Said(said.role, [part for part in parts if part.text])


def _room(question: str, tokens: int) -> int:
    return min(tokens // 2, SUMMARY_TOKENS if asks_for_summary(question) else QUESTION_TOKENS)


def _question(messages: Sequence[Said]) -> str:
    last = next((said for said in reversed(messages) if said.role == "user"), None)
    return " ".join(part.text for part in last.parts if not part.fenced) if last else ""


def _newest_with_text(messages: Sequence[Said]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        if any(part.fenced for part in messages[index].parts):
            return index
    return -1


def _size(said: Said, count: Count) -> int:
    return _AROUND + sum(count(part.before + part.text + part.after) for part in said.parts)


def _first_that_fits(sizes: Sequence[int], tokens: int) -> int:
    """Index of the oldest message that is still read; the last always is."""
    start, room = len(sizes) - 1, tokens - sizes[-1]
    while start > 0 and sizes[start - 1] <= room:
        start -= 1
        room -= sizes[start]
    return start


def _note(kept: int, total: int, dropped: bool) -> str:
    if kept >= total:
        return ""
    what = "the sentences that matter most for the question"
    older = ", without the older messages" if dropped else ""
    return f"The local model is small: it reads {kept:,} of {total:,} tokens, {what}{older}."
