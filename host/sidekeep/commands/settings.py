"""`settings.set`, `settings.get`."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.ops.setup import SettingsGet, SettingsSet
from sidekeep.store import settings
from sidekeep.store.tx import Tx


def put(tx: Tx, _op: SettingsSet, ctx: Context) -> dict[str, Any]:
    settings.put(tx, ctx.plain["patch"])
    return {}


def get(tx: Tx, op: SettingsGet, _ctx: Context) -> dict[str, Any]:
    return {"settings": settings.listing(tx, given(op.keys))}
