"""What a store needs from time to time: old changes, expired receipts and old trash are removed in small steps."""

from sidekeep.model.limits import CHANGES_MS, DAY
from sidekeep.store import blobs, purge, receipts, settings, uploads
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)
STEP = 500


def prune_changes(tx: Tx) -> int:
    """Changes are kept for a day and until they are indexed; the newest stays, or the sequence would start again."""
    tx.run(sql.prune_changes, (tx.now - CHANGES_MS, STEP))
    return tx.changed_rows()


def collect_receipts(tx: Tx) -> int:
    """Receipts whose time is over."""
    return receipts.collect(tx, STEP)


def empty_trash(tx: Tx) -> int:
    """The thread that has lain in the trash for longest, if its time is over."""
    days = int(settings.get(tx, "retention.trash_days"))
    for (thread_id,) in tx.all(sql.expired_trash, (tx.now - days * DAY, 1)):
        row = tx.thread(thread_id)
        if row is not None:
            purge.thread(tx, row)
            tx.change("thread.deleted", thread_id, detail={"purged": True})
            return 1
    return 0


STEPS = (prune_changes, collect_receipts, empty_trash, uploads.sweep_abandoned, blobs.remove_dropped)
"""Each returns how much it did; it is called again until it returns 0."""
