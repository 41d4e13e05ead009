"""`vault.status`, `vault.unlock`, `vault.lock`, `vault.rekey`: the key of all secrets, and who may use it."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.ops.setup import VaultLock, VaultRekey, VaultStatus, VaultUnlock
from sidekeep.store.tx import Tx


def status(_tx: Tx, _op: VaultStatus, ctx: Context) -> dict[str, Any]:
    from sidekeep.vault import Vault  # brings the cryptography: only where it is needed

    return Vault(ctx.places).status()


def unlock(tx: Tx, op: VaultUnlock, ctx: Context) -> dict[str, Any]:
    """Raises VaultLocked for a wrong passphrase."""
    from sidekeep.vault import Vault
    from sidekeep.vault.resealing import settle

    vault = Vault(ctx.places)
    vault.unlock(given(op.passphrase))
    ctx.after = settle(tx, vault)
    _tell(tx)
    return {}


def lock(tx: Tx, _op: VaultLock, ctx: Context) -> dict[str, Any]:
    from sidekeep.vault import Vault

    Vault(ctx.places).lock()
    _tell(tx)
    return {}


def rekey(tx: Tx, op: VaultRekey, ctx: Context) -> dict[str, Any]:
    """Raises VaultLocked when a key that still seals something is out of reach."""
    from sidekeep.vault import Vault
    from sidekeep.vault.resealing import rekey as reseal

    ctx.after = reseal(tx, Vault(ctx.places), given(op.passphrase))
    _tell(tx)
    return {}


def _tell(tx: Tx) -> None:
    tx.change("store.changed", id="vault", detail={"kind": "secrets", "id": "vault"})
