"""A new key for the vault, and everything sealed anew under it, in the transaction that it is given.

The new key is on disk, and seals, before the transaction; the old ones stay until the transaction is on disk
too. Whatever dies between: each sealed value names its key, and the key is there. What a death left undone,
the next `settle` does.
"""

from collections.abc import Callable

from sidekeep.model.errors import SidekeepError, VaultLocked
from sidekeep.store import secrets
from sidekeep.store.tx import Tx
from sidekeep.vault import sealed
from sidekeep.vault.vault import Vault


def rekey(tx: Tx, vault: Vault, passphrase: str | None = None) -> Callable[[], None]:
    """Returns what has to be called once the transaction is on disk: it removes the old keys.

    Raises VaultLocked when a key that still seals something is out of reach; nothing has changed then.
    """
    vault.reach(_in_use(tx))
    new = vault.add_key(passphrase)
    try:
        return _reseal(tx, vault, new)
    except BaseException:
        # Nobody can have sealed with it: sealing needs the write lock that this transaction holds.
        vault.remove_keys((new,))
        raise


def settle(tx: Tx, vault: Vault) -> Callable[[], None] | None:
    """Go on with a `rekey` that a death interrupted, if there is one and its keys are in reach.

    Returns what has to be called once the transaction is on disk.
    """
    keys = vault.keys()
    if len(keys) < 2:
        return None
    try:
        vault.reach((*_in_use(tx), keys[-1]))
    except VaultLocked:
        return None
    return _reseal(tx, vault, keys[-1])


def _in_use(tx: Tx) -> set[str]:
    found = set()
    for _, secret in secrets.all_sealed(tx):
        try:
            found.add(sealed.key_of(secret))
        except sealed.Unreadable:
            continue
    return found


def _reseal(tx: Tx, vault: Vault, new: str) -> Callable[[], None]:
    for name, secret in secrets.all_sealed(tx):
        if _is_under(secret, new):
            continue
        try:
            value = vault.open(name, secret)
        except SidekeepError as error:
            if error.retryable:
                raise
            continue  # damaged: no key opens it, and it stays for its owner to enter anew
        secrets.replace_sealed(tx, name, vault.seal(name, value))
    old = vault.keys()[: vault.keys().index(new)]
    return lambda: vault.remove_keys(old)


def _is_under(secret: bytes, key_id: str) -> bool:
    try:
        return sealed.key_of(secret) == key_id
    except sealed.Unreadable:
        return False
