"""Which sentences of a text say most, on their own or about a question: by counting, without a model."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from sidekeep.providers.sentences import words

_SUMMARY = re.compile(
    r"summar|tl;?dr|overview|main points|key points|gist|what is this (page|article|text|about)"
    r"|zusammenfass|überblick|résum|resum|riassu|samenvat|sammanfat|streszcz|кратко|резюме|итог"
    r"|总结|總結|概括|概述|摘要|大意|讲了什么|講了什麼|要約|まとめ|概要|요약",
    re.IGNORECASE,
)
_SHORTEST_WORDS = 4
_SCANNED = 4_000


def asks_for_summary(question: str) -> bool:
    """Whether the whole text is wanted rather than one place in it; also when nothing is asked."""
    return not words(question) or _SUMMARY.search(question) is not None


def central(found: Sequence[str], limit: int) -> list[int]:
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


def closest(found: Sequence[str], wanted: Sequence[str], limit: int) -> list[int]:
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
