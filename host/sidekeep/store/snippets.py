"""A piece of a text around what was found, with marks, and how well the text fits the query."""

import re
from collections.abc import Sequence

from sidekeep.store import words
from sidekeep.store.search_query import Term

#: Around what was found; characters of private use that are taken out of the text itself.
MARK, UNMARK = "\ue000", "\ue001"
BEFORE = 60
LENGTH = 200
#: As much of a text is looked at for its score.
LOOKED_AT = 20_000
_MOST_COUNTED = 16
_OWN_MARKS = str.maketrans("", "", MARK + UNMARK)


def score(folded: str, terms: list[Term]) -> float | None:
    """Higher is better; None when a literal term does not stand in the folded text."""
    total = 0.0
    for term in terms:
        if term.literal is not None and term.literal.search(folded) is None:
            return None
        total += _weight(folded[:LOOKED_AT], term)
    return total / (1.0 + min(len(folded), LOOKED_AT) / 4000)


def _weight(folded: str, term: Term) -> float:
    for level, pattern in enumerate(term.shown):
        count = 0
        for _ in pattern.finditer(folded):
            count += 1
            if count == _MOST_COUNTED:
                break
        if count:
            return count / (count + 1.5) / (1 + level)
    return 0.1


def shown(text: str) -> tuple[str, str]:
    """A text as snippets are cut from it, and the same folded."""
    text = words.composed(text)
    if MARK in text or UNMARK in text:
        text = text.translate(_OWN_MARKS)
    return text, words.fold(text)


def snippet(text: str, folded: str, terms: list[Term]) -> str:
    """At most some 200 characters around the first thing found, on one line; of a text as `shown` gives it."""
    found = [match.start() for term in terms if (match := _first(folded, term))]
    at = _original(text, folded, min(found)) if found else 0
    start = _border(text, at - BEFORE) if at > BEFORE else 0
    piece = text[start : start + LENGTH]
    folded_piece = folded[start : start + LENGTH] if len(text) == len(folded) else words.fold(piece)
    marked = " ".join(_marked(piece, folded_piece, terms).split())
    return ("\u2026" if start else "") + marked + ("\u2026" if start + LENGTH < len(text) else "")


def _first(folded: str, term: Term) -> re.Match[str] | None:
    for pattern in term.shown:
        match = pattern.search(folded)
        if match is not None:
            return match
    return None


def _original(text: str, folded: str, position: int) -> int:
    """Where in the text the folded position is: folding may lengthen or shorten."""
    if len(text) == len(folded):
        return position
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        if len(words.fold(text[:middle])) < position:
            low = middle + 1
        else:
            high = middle
    return low


def _border(text: str, start: int) -> int:
    """Behind the next space, if there is one soon."""
    space = text.find(" ", start, start + 20)
    return start if space < 0 else space + 1


def _marked(piece: str, folded: str, terms: list[Term]) -> str:
    owner: Sequence[int] = range(len(piece))
    if len(folded) != len(piece):
        owner = [index for index, character in enumerate(piece) for _ in words.fold(character)]
    spans: list[tuple[int, int]] = []
    for term in terms:
        for pattern in term.shown:
            matches = [match.span() for match in pattern.finditer(folded) if match.end() > match.start()]
            if matches:
                spans += [(owner[first], owner[last - 1] + 1) for first, last in matches]
                break
    out, done = "", 0
    for first, last in sorted(spans):
        if first >= done:
            out += piece[done:first] + MARK + piece[first:last] + UNMARK
            done = last
    return out + piece[done:]
