"""How many bytes attachments hold, and how many of them may be evicted (first document §5)."""

from typing import NamedTuple

from sidekeep.store import settings
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)


class Usage(NamedTuple):
    """Bytes, each blob counted once; `evictable_bytes` is what the limit is for."""

    all_bytes: int
    evictable_bytes: int
    blobs: int
    limit: int


def usage(tx: Tx) -> Usage:
    blobs, size = tx.one(sql.all) or (0, 0)
    (evictable,) = tx.one(sql.evictable) or (0,)
    return Usage(size, evictable, blobs, settings.get(tx, "attachments.limit_bytes"))
