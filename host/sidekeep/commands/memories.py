"""`memory.set`, `memory.delete`, `memory.list`: what models were told to remember."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.ops.knowledge import MemoryDelete, MemoryList, MemorySet
from sidekeep.store import memories
from sidekeep.store.tx import Tx


def put(tx: Tx, op: MemorySet, _ctx: Context) -> dict[str, Any]:
    memory_id, revision = memories.put(tx, op.key, op.value, given(op.memory_id))
    return {"memoryId": memory_id, "revision": revision}


def delete(tx: Tx, op: MemoryDelete, _ctx: Context) -> dict[str, Any]:
    memories.delete(tx, op.memory_id)
    return {}


def listing(tx: Tx, _op: MemoryList, _ctx: Context) -> dict[str, Any]:
    names = ("id", "key", "value", "revision", "createdAt", "updatedAt")
    rows = tx.all("SELECT id, key, value, revision, created_at, updated_at FROM memories ORDER BY key")
    return {"memories": [dict(zip(names, row, strict=True)) for row in rows]}
