"""How many bytes attachments hold, how many of them may be evicted, and when the user is warned (first document §5)."""

from typing import NamedTuple

from sidekeep.model.limits import STORAGE_WARNING_PCT
from sidekeep.store import settings
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)

_WARNED = "storageWarned"


class Usage(NamedTuple):
    """Bytes, each blob counted once; `evictable_bytes` is what the limit is for."""

    all_bytes: int
    evictable_bytes: int
    blobs: int
    limit: int

    @property
    def pct(self) -> int:
        return self.evictable_bytes * 100 // self.limit

    @property
    def warn(self) -> bool:
        return self.pct >= STORAGE_WARNING_PCT


def usage(tx: Tx) -> Usage:
    blobs, size = tx.one(sql.all) or (0, 0)
    (evictable,) = tx.one(sql.evictable) or (0,)
    return Usage(size, evictable, blobs, settings.get(tx, "attachments.limit_bytes"))


def is_warned(tx: Tx) -> bool:
    """Whether the user has been told of the use that stands."""
    return tx.one("SELECT 1 FROM meta WHERE key = ?", (_WARNED,)) is not None


def warn(tx: Tx) -> bool:
    """`storage.warning` to every port, once for each time that the use rises to 80 %; whether it was told now."""
    now = usage(tx)
    if not now.warn:
        tx.run("DELETE FROM meta WHERE key = ?", (_WARNED,))
        return False
    if is_warned(tx):
        return False
    tx.run("INSERT INTO meta (key, value) VALUES (?, ?)", (_WARNED, tx.now))
    detail: dict[str, object] = {"usedBytes": now.evictable_bytes, "limitBytes": now.limit, "pct": now.pct}
    tx.change("storage.warning", detail=detail)
    return True
