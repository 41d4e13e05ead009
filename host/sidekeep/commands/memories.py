"""`memory.set`, `memory.delete`, `memory.list`: what models were told to remember."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import Conflict, NotFound
from sidekeep.model.ops import MemoryDelete, MemoryList, MemorySet
from sidekeep.store.tx import Tx


def put(tx: Tx, op: MemorySet, _ctx: Context) -> dict[str, Any]:
    standing = tx.one("SELECT id FROM memories WHERE key = ?", (op.key,))
    memory_id = given(op.memory_id) or (standing[0] if standing else tx.new_id())
    if standing and standing[0] != memory_id:
        raise Conflict(f"Another memory has the key {op.key}.")
    tx.run(
        "INSERT INTO memories (id, key, created_at, updated_at, value) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET key = excluded.key, value = excluded.value, "
        "updated_at = excluded.updated_at, revision = revision + 1",
        (memory_id, op.key, tx.now, tx.now, op.value),
    )
    (revision,) = tx.one("SELECT revision FROM memories WHERE id = ?", (memory_id,)) or (1,)
    tx.change("store.changed", id=memory_id, revision=revision, detail={"kind": "memories", "id": memory_id})
    return {"memoryId": memory_id, "revision": revision}


def delete(tx: Tx, op: MemoryDelete, _ctx: Context) -> dict[str, Any]:
    tx.run("DELETE FROM memories WHERE id = ?", (op.memory_id,))
    if tx.changed_rows() != 1:
        raise NotFound(f"No memory {op.memory_id}.")
    tx.change("store.changed", id=op.memory_id, detail={"kind": "memories", "id": op.memory_id})
    return {}


def listing(tx: Tx, _op: MemoryList, _ctx: Context) -> dict[str, Any]:
    names = ("id", "key", "value", "revision", "createdAt", "updatedAt")
    rows = tx.all("SELECT id, key, value, revision, created_at, updated_at FROM memories ORDER BY key")
    return {"memories": [dict(zip(names, row, strict=True)) for row in rows]}
