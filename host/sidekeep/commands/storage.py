"""`storage.status`: how much is kept, how near the quota is, and whether the state folder's place is safe."""

import os
from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.ops.files import StorageStatus
from sidekeep.store import place, quota
from sidekeep.store.tx import Tx


def status(tx: Tx, _op: StorageStatus, ctx: Context) -> dict[str, Any]:
    usage = quota.usage(tx)
    size = 0
    for ending in ("", "-wal", "-shm"):
        try:
            size += os.stat(ctx.places.database + ending).st_size
        except FileNotFoundError:
            continue
    shown: dict[str, Any] = {
        "attachmentsBytes": usage.all_bytes,
        "attachmentsLimit": usage.limit,
        "evictableBytes": usage.evictable_bytes,
        "databaseBytes": size,
        "blobs": usage.blobs,
        "warn": usage.warn,
    }
    warnings = place.warnings(ctx.places.state)
    if warnings:
        shown["warnings"] = warnings
    return shown
