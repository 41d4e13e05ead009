"""Secrets at rest: sealed under a key whose place (OS keyring, key file, passphrase) is chosen once and recorded.

What is stored of a secret is its sealed bytes in the database; the key is never there. Nothing here opens the
database, except `resealing`, which is given a transaction.
"""

from sidekeep.vault.vault import Vault

__all__ = ["Vault"]
