"""How much is in a store: counts over its tables, for `sidekeep status`."""

from typing import Any

from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)
_NAMES = ("threads", "archived", "trash", "nodes", "attachments", "pages", "queuedRuns", "activeRuns", "receipts")


def counts(tx: Tx) -> dict[str, int]:
    """Rows by what they are; `threads` are those outside the trash, `archived` of them those put aside."""
    return dict(zip(_NAMES, tx.one(sql.counts) or (), strict=True))


def schema_version(tx: Tx) -> Any:
    """The number of the last step of the schema's ladder that the store has been through."""
    row = tx.one(sql.schema_version)
    return None if row is None else row[0]
