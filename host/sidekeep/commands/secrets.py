"""`secret.set`, `secret.delete`, `secret.list`: values go in and never come out."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.ops.setup import SecretDelete, SecretList, SecretSet
from sidekeep.store import secrets
from sidekeep.store.tx import Tx


def put(tx: Tx, op: SecretSet, ctx: Context) -> dict[str, Any]:
    from sidekeep.vault import Vault  # brings the cryptography: only where it is needed
    from sidekeep.vault.resealing import settle

    secrets.put(tx, op.name, ctx.seal(op.name, op.value))
    ctx.after = settle(tx, Vault(ctx.places))
    return {}


def delete(tx: Tx, op: SecretDelete, _ctx: Context) -> dict[str, Any]:
    secrets.delete(tx, op.name)
    return {}


def listing(tx: Tx, _op: SecretList, _ctx: Context) -> dict[str, Any]:
    return {"secrets": secrets.listing(tx)}
