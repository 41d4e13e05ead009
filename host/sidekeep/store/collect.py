"""Everything that a store can let go, at once and counted: for a person who asks for it.

The runner and hosts do the same in small steps when they are idle; free pages are given back to the disk only here,
and only while nobody else uses the store, because that writes the whole file anew.
"""

import shutil
from collections.abc import Callable
from functools import partial

import apsw

from sidekeep.model.places import Places
from sidekeep.store import blobs, care, eviction, locks
from sidekeep.store.connection import typed
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import Store
from sidekeep.store.sql import statements
from sidekeep.store.tx import Row, Tx
from sidekeep.store.verify_findings import Progress
from sidekeep.store.watching import watched_threads

sql = statements(__file__)

STEP = 64
#: Free pages are worth a new file when they are this part of it, and this many bytes.
WORTH_SHARE = 10
WORTH_BYTES = 1024 * 1024

#: What each step of the store's care is called in the report.
NAMES: dict[Callable[[Tx], int], str] = {
    care.prune_changes: "changes",
    care.collect_receipts: "receipts",
    care.empty_trash: "threads",
}


def collect(store: Store, doorway: Doorway, progress: Progress) -> dict[str, int]:
    """`{"evicted", "receipts", "threads", "changes", "uploads", "orphans", "bytes"}`: how many of each went, and how
    many bytes of attachments that freed inside the file."""
    before = doorway.run(_stored_bytes)
    done = {"evicted": 0, "receipts": 0, "threads": 0, "changes": 0, "uploads": 0, "orphans": 0, "bytes": 0}
    done["evicted"] = _evict(store.places, doorway, progress)
    for step in care.STEPS:
        if step is not blobs.remove_dropped:
            name = NAMES.get(step, "uploads")
            done[name] += _all(doorway, step, name, progress)
    done["orphans"] = _all(doorway, _drop_unnamed, "orphans", progress) + _drop_loose(doorway, progress)
    _all(doorway, blobs.remove_dropped, "bytes", progress)
    done["bytes"] = before - doorway.run(_stored_bytes)
    return done


def _stored_bytes(tx: Tx) -> int:
    (size,) = tx.one(sql.stored_bytes) or (0,)
    return int(size)


def _all(doorway: Doorway, step: Callable[[Tx], int], name: str, progress: Progress) -> int:
    """Until the step has nothing more to do, a transaction each time, so that others get on between."""
    total = 0
    while count := doorway.run(step):
        total += count
        progress(name, total, 0)
    return total


def _evict(places: Places, doorway: Doorway, progress: Progress) -> int:
    total = 0
    while True:
        watched = watched_threads(places)
        chosen = doorway.run(partial(eviction.plan, watched=watched))
        went = doorway.run(partial(eviction.mark, chosen=chosen, watched=watched)) if chosen else 0
        if not went:
            return total
        total += went
        progress("quota", total, 0)


def _drop_unnamed(tx: Tx) -> int:
    found = [key for (key,) in tx.all(sql.unnamed, (STEP,))]
    blobs.drop_unused(tx, found)
    return len(found)


def _drop_loose(doorway: Doorway, progress: Progress) -> int:
    """Bytes of blobs that are not there any more; returns of how many blobs."""
    at = total = 0
    while True:
        found = doorway.run(partial(_one, sql.next_chunk, at))
        if found is None:
            return total
        owner = found[0] >> 20
        if doorway.run(partial(_one, sql.is_blob, owner)) is None:
            total += 1
            _all(doorway, partial(_drop_chunks, owner), "orphans", progress)
        at = owner + 1 << 20


def _one(statement: str, key: int, tx: Tx) -> Row | None:
    return tx.one(statement, (key,))


def _drop_chunks(blob: int, tx: Tx) -> int:
    tx.run(blobs.sql.remove_chunks, (blob, STEP))
    return tx.changed_rows()


def compact(store: Store, progress: Progress) -> dict[str, object]:
    """Give free pages back to the disk: `{"freeBytes", "returnedBytes", "kept"?}`, `kept` saying why not.

    Raises StorageFull and others when the disk refuses; the file is then as it was.
    """
    size, count, free = store.db.execute(sql.pages).fetchone() or (0, 0, 0)
    report: dict[str, object] = {"freeBytes": size * free, "returnedBytes": 0}
    if free * size < WORTH_BYTES or free * WORTH_SHARE < count:
        report["kept"] = "there are few; what is written next uses them"
        return report
    if shutil.disk_usage(store.places.state).free < 2 * size * (count - free):
        report["kept"] = "the disk has no room to write the file anew"
        return report
    if not locks.lock(store.schema_lock, locks.EXCLUSIVE, wait=False):
        # A conversion that fails may have lost the shared lock.
        locks.lock(store.schema_lock, locks.SHARED, wait=True)
        report["kept"] = "the store is in use; close the browser, wait a minute and try again"
        return report
    try:
        progress("writing the file anew", 0, 0)
        store.db.execute("VACUUM")
        store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except apsw.Error as error:
        raise typed(error) from error
    finally:
        locks.lock(store.schema_lock, locks.SHARED, wait=True)
    _size, now, _free = store.db.execute(sql.pages).fetchone() or (0, 0, 0)
    report["returnedBytes"] = size * (count - now)
    return report
