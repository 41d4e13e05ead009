"""Memories: what models were told to remember, by key, newest change first where not all have room."""

from sidekeep.model.errors import Conflict, NotFound
from sidekeep.store.tx import Tx

#: What a prompt holds of them at most; the others are read with the tool.
PROMPT_MEMORIES = 50
PROMPT_CHARACTERS = 4_000


def put(tx: Tx, key: str, value: str, memory_id: str | None = None) -> tuple[str, int]:
    """Make or change one; returns id and revision. Raises Conflict when another has the key."""
    standing = tx.one("SELECT id FROM memories WHERE key = ?", (key,))
    memory_id = memory_id or (standing[0] if standing else tx.new_id())
    if standing and standing[0] != memory_id:
        raise Conflict(f"Another memory has the key {key}.")
    tx.run(
        "INSERT INTO memories (id, key, created_at, updated_at, value) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET key = excluded.key, value = excluded.value, "
        "updated_at = excluded.updated_at, revision = revision + 1",
        (memory_id, key, tx.now, tx.now, value),
    )
    (revision,) = tx.one("SELECT revision FROM memories WHERE id = ?", (memory_id,)) or (1,)
    tx.change("store.changed", id=memory_id, revision=revision, detail={"kind": "memories", "id": memory_id})
    return str(memory_id), int(revision)


def delete(tx: Tx, memory_id: str) -> None:
    """Raises NotFound."""
    tx.run("DELETE FROM memories WHERE id = ?", (memory_id,))
    if tx.changed_rows() != 1:
        raise NotFound(f"No memory {memory_id}.")
    tx.change("store.changed", id=memory_id, detail={"kind": "memories", "id": memory_id})


def by_key(tx: Tx, key: str) -> tuple[str, str] | None:
    """Id and value."""
    row = tx.one("SELECT id, value FROM memories WHERE key = ?", (key,))
    return None if row is None else (row[0], row[1])


def matching(tx: Tx, words: str, limit: int) -> list[tuple[str, str]]:
    """Key and value of those that hold the words, newest first; all for no words."""
    wanted = words.casefold()
    rows = tx.all("SELECT key, value FROM memories ORDER BY updated_at DESC, id")
    found = [(key, value) for key, value in rows if wanted in key.casefold() or wanted in value.casefold()]
    return found[:limit]


def for_prompt(tx: Tx) -> tuple[list[tuple[str, str]], int]:
    """The newest that have room, by key, and how many were left out."""
    rows = tx.all("SELECT key, value FROM memories ORDER BY updated_at DESC, id")
    room = PROMPT_CHARACTERS
    shown: list[tuple[str, str]] = []
    for key, value in rows:
        room -= len(key) + len(value) + 4
        if room < 0 or len(shown) == PROMPT_MEMORIES:
            break
        shown.append((key, value))
    return sorted(shown), len(rows) - len(shown)
