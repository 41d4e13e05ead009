"""Which kinds of job there are, and where each is done; a kind's module is imported when its first job is taken."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from sidekeep.jobs.work import Work
from sidekeep.model.errors import InvalidCommand

#: What a kind is: `async (work) -> report`, the report being `job.done`'s `data`. It goes on from `work.position`,
#: writes only through `work.step`, and blocks the loop for no longer than a moment (threads, processes, sockets).
Kind = Callable[[Work], Awaitable[Any]]

#: kind → (module of this package, function)
KINDS: dict[str, tuple[str, str]] = {
    "attachment.text": ("pdf_text", "read_text"),
    "connection.models": ("connection_models", "list_models"),
    "connection.verify": ("connection_verify", "verify"),
    "session.rewind": ("rewind", "rewind"),
    "session.undoRewind": ("rewind", "undo_rewind"),
    "sync": ("sync", "synchronise"),
}


def kind_of(name: str) -> Kind:
    """Raises InvalidCommand for a kind that this version does not know."""
    if name not in KINDS:
        raise InvalidCommand(f"This version of Sidekeep knows no job of the kind {name}.")
    module, function = KINDS[name]
    found: Kind = getattr(import_module(f"sidekeep.jobs.{module}"), function)
    return found
