"""Text that comes in pieces: whole characters only, and thinking told from answer by its tags."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from sidekeep.providers.base import ReasoningDelta, TextDelta


def read_json(text: str) -> Any:
    """A JSON value. Half a surrogate pair is valid JSON, which msgspec refuses. Raises ValueError."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return json.loads(text)


class WholeCharacters:
    """Holds back half of a surrogate pair until its other half comes: JSON escapes can be cut between them."""

    def __init__(self) -> None:
        self._half = ""

    def take(self, text: str) -> str:
        """The text that is whole now, pairs made into their character, a half that stays alone into U+FFFD."""
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _well_formed(text)

    def rest(self) -> str:
        half, self._half = self._half, ""
        return _well_formed(half)


def _well_formed(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class ThinkTags:
    """Splits an answer that begins with `<think>…</think>`, wherever its pieces are cut."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._state = "before"
        self._held = ""

    def take(self, text: str) -> Iterator[TextDelta | ReasoningDelta]:
        self._held += text
        if self._state == "before":
            begun = self._held.lstrip()
            if self._OPEN.startswith(begun[: len(self._OPEN)]) and len(begun) < len(self._OPEN):
                return
            if begun.startswith(self._OPEN):
                self._state, self._held = "thinking", begun.removeprefix(self._OPEN).lstrip("\n")
            else:
                self._state = "answer"
        if self._state == "thinking":
            thought, tag, rest = self._held.partition(self._CLOSE)
            keep = 0 if tag else _beginning_at_end(thought, self._CLOSE)
            self._held = rest if tag else thought[len(thought) - keep :]
            if thought[: len(thought) - keep]:
                yield ReasoningDelta(thought[: len(thought) - keep])
            if not tag:
                return
            self._state = "after"
        if self._state == "after":
            self._held = self._held.lstrip("\n")
            if not self._held:
                return
            self._state = "answer"
        if self._held:
            said, self._held = self._held, ""
            yield TextDelta(said)

    def rest(self) -> Iterator[TextDelta | ReasoningDelta]:
        """At the end: what was held back, as what it was taken for."""
        held, self._held = self._held, ""
        if held:
            yield ReasoningDelta(held) if self._state == "thinking" else TextDelta(held)


def _beginning_at_end(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the tag's beginning."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
