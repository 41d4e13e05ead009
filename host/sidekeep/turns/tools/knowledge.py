"""Tools on what Sidekeep keeps: the history, memories, skills."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.errors import Conflict
from sidekeep.store import memories, search, skills
from sidekeep.store.tx import Tx
from sidekeep.turns.fences import fenced
from sidekeep.turns.tools.descriptor import Acting, Args, Outcome, StoreTool

_HITS = 10
_MEMORIES = 100
_LONGEST = 20_000  # characters of an answer


class SearchHistory(Args):
    """Arguments of search_history."""

    query: Annotated[str, Meta(min_length=1, max_length=500, description="Words to look for.")]
    limit: Annotated[int, Meta(ge=1, le=_HITS)] = 5


class MemoryRead(Args):
    """Arguments of memory_read."""

    query: Annotated[str, Meta(max_length=200, description="Words that the memory holds; empty for all.")] = ""


class MemoryWrite(Args):
    """Arguments of memory_write."""

    key: Annotated[str, Meta(min_length=1, max_length=200, description="A short name; an existing one is replaced.")]
    value: Annotated[str, Meta(max_length=4_000, description="What to remember; left out: forget it.")] | UnsetType = (
        UNSET
    )


class LoadSkill(Args):
    """Arguments of load_skill."""

    name: Annotated[str, Meta(min_length=1, max_length=200, description="The skill's name.")]


def _search(tx: Tx, _acting: Acting, args: SearchHistory) -> Outcome:
    found = search.find(tx, args.query, search.Filters(), args.limit)["hits"]
    if not found:
        return Outcome(True, "Nothing was found.", {"hits": []})
    shown = [{"title": hit["title"], "text": hit["snippet"], "at": hit["ts"]} for hit in found]
    details = [
        {name: hit[name] for name in ("threadId", "nodeId", "pageId", "title") if hit.get(name)} for hit in found
    ]
    # The history holds pages, too: what they say is no request of the user.
    block = fenced(
        msgspec.json.encode(shown).decode(), kind="page", trust="untrusted", provenance="tool", title="Found in history"
    )
    return Outcome(True, block.whole, {"hits": details})


def _read(tx: Tx, _acting: Acting, args: MemoryRead) -> Outcome:
    found = memories.matching(tx, args.query, _MEMORIES)
    text = "\n".join(f"{key}: {value[:_LONGEST]}" for key, value in found)[:_LONGEST]
    return Outcome(True, text or "There is no such memory.", {"count": len(found)})


def _write(tx: Tx, _acting: Acting, args: MemoryWrite) -> Outcome:
    standing = memories.by_key(tx, args.key)
    if args.value is UNSET:
        if standing is None:
            return Outcome(False, f"There is no memory {args.key!r}.")
        memories.delete(tx, standing[0])
        return Outcome(True, f"Forgotten: {args.key}.", {"memoryId": standing[0], "deleted": True})
    try:
        memory_id, _revision = memories.put(tx, args.key, args.value)
    except Conflict as error:
        return Outcome(False, error.message)
    return Outcome(True, f"Remembered: {args.key}.", {"memoryId": memory_id})


def _load(tx: Tx, _acting: Acting, args: LoadSkill) -> Outcome:
    skill = skills.enabled(tx, args.name)
    if skill is None:
        return Outcome(False, f"There is no skill {args.name!r} that is switched on.")
    return Outcome(True, skill.body, {"skillId": skill.id, "name": skill.name})


TOOLS = (
    StoreTool(
        name="search_history",
        description="Searches the user's earlier conversations and kept pages for words.",
        args=SearchHistory,
        level="builtin",
        risk="read",
        repeat="retry-safe",
        asks=lambda args: f"Search the history for \u201c{args.query}\u201d",
        act=_search,
    ),
    StoreTool(
        name="memory_read",
        description="Reads what was remembered about the user in earlier conversations.",
        args=MemoryRead,
        level="builtin",
        risk="read",
        repeat="retry-safe",
        asks=lambda _args: "Read the memories",
        act=_read,
    ),
    StoreTool(
        name="memory_write",
        description="Remembers something lasting that the user told about themselves or wants remembered, for later "
        "conversations. Not for what a page says.",
        args=MemoryWrite,
        level="builtin",
        risk="write",
        repeat="inspect-first",
        asks=lambda args: (
            f"Forget \u201c{args.key}\u201d"
            if args.value is UNSET
            else f"Remember \u201c{args.key}\u201d: {args.value}"
        ),
        act=_write,
    ),
)
LOAD_SKILL = StoreTool(
    name="load_skill",
    description="Loads the instructions of one of the user's skills, by its name.",
    args=LoadSkill,
    level="builtin",
    risk="read",
    repeat="retry-safe",
    asks=lambda args: f"Load the skill \u201c{args.name}\u201d",
    act=_load,
)
