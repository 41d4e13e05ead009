"""A model's title for a thread, asked for after certain replies (second document, B19); a user's title ends it.

Only endpoints that were set up for it are asked: the small local model names nothing well.
"""

from contextlib import aclosing
from typing import Any, NamedTuple

import msgspec

from sidekeep.model.environment import binding_of
from sidekeep.model.errors import Refusal
from sidekeep.model.limits import TITLE_REPLIES
from sidekeep.providers.base import ContextText, Finished, Message, ModelRequest, TextBlock, TextDelta
from sidekeep.store import settings
from sidekeep.store.titles import name_by_model
from sidekeep.store.tx import Tx
from sidekeep.turns.context import session_context
from sidekeep.turns.environment_build import bind_secrets, usable_connection
from sidekeep.turns.finish import cost_of
from sidekeep.turns.held import Held
from sidekeep.turns.models import Endpoint
from sidekeep.turns.prompts import TITLE_PROMPT
from sidekeep.turns.turn import FIT_THEMSELVES, Work

_EXCERPT = 1_500
_LONGEST_ANSWER = 300


class Naming(NamedTuple):
    """A title that is due: which reply it is for, whom to ask, and what."""

    mark: int
    endpoint: Endpoint
    request: ModelRequest
    pricing: dict[str, Any] | None


def due(replies: int, mark: int) -> int | None:
    """The reply that a title is due for, if the last one was made at `mark`."""
    reached = [reply for reply in TITLE_REPLIES if mark < reply <= replies]
    return reached[-1] if reached else None


async def name_thread(work: Work, mine: Held) -> bool:
    """Ask for a title if one is due, and keep it unless the user named the thread meanwhile."""
    naming = await work.read(lambda tx: _naming(tx, mine))
    if naming is None:
        return False

    def bind(tx: Tx) -> bool:
        bind_secrets(tx, usable_connection(tx, naming.endpoint.binding["connectionId"]))
        return True

    await work.write(bind, lambda _tx: None)
    title, usage = await _ask(work, naming)
    if not title:
        return False

    def keep(tx: Tx) -> bool:
        thread = tx.thread(mine.thread_id)
        if thread is None or thread.deleted_at is not None or thread.fence != mine.fence:
            return False
        named = thread.title_mark < naming.mark and name_by_model(thread, title, naming.mark)
        if usage is not None:
            thread.set("total_tokens", thread.total_tokens + usage["inputTokens"] + usage["outputTokens"])
            thread.set("cost_usd", thread.cost_usd + (cost_of(usage, naming.pricing) or 0.0))
        return named

    def kept(tx: Tx) -> bool | None:
        thread = tx.thread(mine.thread_id)
        return True if thread is not None and thread.title_mark >= naming.mark else None

    return bool(await work.write(keep, kept))


def _naming(tx: Tx, mine: Held) -> Naming | None:
    thread = tx.thread(mine.thread_id)
    if thread is None or thread.title_source == "user" or not settings.get(tx, "titles.model"):
        return None
    mark = due(thread.turns, thread.title_mark)
    if mark is None:
        return None
    own = {"connectionId": mine.connection_id, "modelId": mine.model_id}
    model = settings.get(tx, "models.task") or own
    try:
        connection = usable_connection(tx, model["connectionId"])
    except Refusal:
        return None
    if connection["kind"] in FIT_THEMSELVES:
        return None
    offered = [entry for entry in connection.get("models") or () if entry["id"] == model["modelId"]]
    request = ModelRequest(
        model_id=model["modelId"],
        system=TITLE_PROMPT,
        messages=[Message("user", [TextBlock(_excerpt(session_context(tx, thread.leaf).messages))])],
    )
    endpoint = Endpoint(binding_of(connection), dict(connection.get("headers") or {}))
    return Naming(mark, endpoint, request, offered[0].get("pricing") if offered else None)


def _excerpt(messages: list[Message]) -> str:
    """The first exchange and the last one, without what was attached, as one text."""
    said = []
    for message in messages if len(messages) <= 4 else [*messages[:2], *messages[-2:]]:
        titles = [block.title for block in message.content if isinstance(block, ContextText) and block.title]
        text = " ".join(block.text for block in message.content if isinstance(block, TextBlock))
        about = f" (about: {', '.join(titles)})" if titles else ""
        said.append(f"{message.role}{about}: {text[:_EXCERPT]}")
    return "\n\n".join(said)


async def _ask(work: Work, naming: Naming) -> tuple[str, dict[str, int] | None]:
    """The title as the model wrote it, one line, unquoted; empty when it wrote something else."""
    pieces: list[str] = []
    usage = None
    key, provider = work.models.take(naming.endpoint)
    try:
        async with aclosing(provider.stream(naming.request)) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    pieces.append(event.text)
                elif isinstance(event, Finished):
                    usage = msgspec.to_builtins(event.usage)
    finally:
        work.models.give_back(key)
    lines = [line.strip() for line in "".join(pieces).splitlines() if line.strip()]
    title = lines[0].strip("\"'\u201c\u201d\u2018\u2019\u300c\u300d*#. ") if lines else ""
    return (title if len(title) <= _LONGEST_ANSWER else ""), usage
