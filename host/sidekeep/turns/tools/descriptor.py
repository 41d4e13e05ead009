"""What there is to say of a tool, once: schema, approval text, snapshot entry, and what a death does to it.

Arguments are a msgspec struct: the JSON Schema that the model is given and the check of what it sends are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.providers.base import ToolSpec
from sidekeep.store.tx import Tx

Risk = Literal["read", "page", "file", "write", "user"]
"""Of the store's own things; of a page in the browser; of a file of the user's; a change that lasts; the user is the
one who answers."""
Repeat = Literal["retry-safe", "inspect-first", "never-retry"]


class Args(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The base of all arguments: a member that is not named is refused by name."""


class BadArguments(SidekeepError):
    """What the model sent is not what the tool takes; the model is told, the turn goes on."""


@dataclass
class Outcome:
    """What a tool gave: `text` for the model, `details` for the panel, images as blocks of a payload."""

    ok: bool
    text: str
    details: dict[str, Any] = field(default_factory=dict)
    images: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Acting:
    """For whom a tool acts: the conversation and the run, by their keys."""

    thread_id: str
    thread: int
    run: int
    item_id: str
    #: What is known of the browser's tabs: id → address (the tab beside the panel, then those that were listed).
    tabs: dict[int, str]
    #: The tab beside the panel, where the turn knows it.
    here: int | None
    #: Sites that are never captured: no model hears that they are open.
    blocked: frozenset[str]


@cache
def _schema(args: type[Args]) -> dict[str, Any]:
    """Made once: a turn's start waits for it."""
    (parts,), named = msgspec.json.schema_components([args], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = dict(named[args.__name__] if "$ref" in parts else parts)
    for title in ("title", "description"):
        schema.pop(title, None)
    return schema


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A descriptor. `asks` is the sentence of the approval, given the arguments."""

    name: str
    description: str
    args: type[Args]
    level: Literal["L0", "builtin"]
    risk: Risk
    repeat: Repeat
    asks: Callable[[Any], str]
    kind = "tool"

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of the arguments: one flat object; nobody changes it."""
        return _schema(self.args)

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in a snapshot's `toolCatalog`, without the digest."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "level": self.level,
            "repeat": self.repeat,
            "execution": {"kind": self.kind, "tool": self.name, "repeat": self.repeat, "version": 1},
        }

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    def read(self, arguments: str) -> Args:
        """The arguments of a call. Raises BadArguments."""
        try:
            return msgspec.json.decode(arguments.strip() or "{}", type=self.args)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
            raise BadArguments(f"The arguments of {self.name} are not valid: {fault}.") from None


@dataclass(frozen=True, kw_only=True)
class StoreTool(Tool):
    """Acts inside the transaction that keeps its result, so that it has acted exactly when the result is there."""

    act: Callable[[Tx, Acting, Any], Outcome]
    kind = "store"


class InFolder(NamedTuple):
    """Where a file tool acts: the project's folder, and what this conversation has read of it (path → digest)."""

    places: Places
    root: str
    session_id: str
    project_id: str
    turn_id: str
    known: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class FileTool(Tool):
    """Acts in the folder of the conversation's project, outside the store; doing it again after a death is harmless."""

    act: Callable[[InFolder, Any], Outcome]
    kind = "file"


@dataclass(frozen=True, kw_only=True)
class BrowserTool(Tool):
    """Asks the browser. `params` is what it is asked (raises BadArguments), `take` reads what it answered."""

    params: Callable[[Acting, Any], dict[str, Any]]
    take: Callable[[Acting, Any, dict[str, Any]], Outcome]
    kind = "browser"


@dataclass(frozen=True, kw_only=True)
class InteractionTool(Tool):
    """Waits for the user or for a time: `request` gives what is shown and until when, `take` reads the answer."""

    request: Callable[[Any, int], tuple[dict[str, Any], int | None]]
    take: Callable[[Any, dict[str, Any] | None], Outcome]
    kind = "interaction"
