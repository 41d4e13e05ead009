"""Saves what can be read of a database with damaged pages into a new one, mends that, and puts it in place.

The damaged file is first copied page by page; everything is read from the copy, which is kept. The store gets another
id: receipts may be lost, so that a client must not send anew what it kept for the old one.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from sidekeep.model.errors import SidekeepError, StorageCorrupt, StoreBusy
from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.model.places import Places, private_folder
from sidekeep.store import locks, migrations, repair_nodes, search_index
from sidekeep.store.connection import connect, typed
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import Store, make_durable, open_store
from sidekeep.store.repair import repair
from sidekeep.store.repair_copy import copy_as_it_is, free_name, refuse_without_room
from sidekeep.store.salvage_rows import Gap, Walk, chunk_keys, node_keys, table_of
from sidekeep.store.verify import Progress, Report, verify

LOCK_SECONDS = 5.0
ROWS_AT_ONCE = 500
#: Not copied: the index is made anew, and what `meta` says of the schema and the store is the new file's.
SKIPPED = frozenset(("search_rows", "meta"))
FIRST = ("threads", "blobs")


class Salvaged(NamedTuple):
    """What was read: rows by table, what is missing, rows that the new file did not take, and nodes known by name."""

    rows: dict[str, int]
    gaps: list[Gap]
    refused: dict[str, int]
    lost_nodes: dict[int, tuple[str | None, int | None]]


class Outcome(NamedTuple):
    """`copy` is the damaged file as it was, `placed` whether the new one has taken its place."""

    salvaged: Salvaged
    mended: dict[str, int]
    left: Report
    copy: str
    placed: bool


def salvage_store(places: Places, progress: Progress, *, deep: bool = True) -> Outcome:
    """Do all of it, while nobody else uses the store.

    Raises StoreBusy, StorageFull, StorageCorrupt (nothing at all can be read); the store is then as it was.
    """
    opening, schema = locks.open_lock_file(places.open_lock), locks.open_lock_file(places.schema_lock)
    try:
        if not (
            locks.lock_within(opening, locks.EXCLUSIVE, LOCK_SECONDS)
            and locks.lock_within(schema, locks.EXCLUSIVE, LOCK_SECONDS)
        ):
            raise StoreBusy("The store is in use: close the browser, wait a minute, then repair again.")
        refuse_without_room(places)
        return _alone(places, progress, deep)
    except apsw.Error as error:
        raise typed(error) from error
    finally:
        os.close(schema)
        os.close(opening)


def _alone(places: Places, progress: Progress, deep: bool) -> Outcome:
    copy = free_name(places, "damaged")
    live = connect(places.database)
    work = private_folder(free_name(places, "salvage", ""))
    try:
        copy_as_it_is(live, copy, lambda done, total: progress("copy of the damaged file", done, total))
        new = open_store(Places(work))
        try:
            outcome = _into(new, copy, progress, deep)
            if not outcome.left.unreadable:
                with live.backup("main", new.db, "main") as backup:
                    backup.step()
                make_durable(live)
                outcome = outcome._replace(placed=True)
        finally:
            new.close()
    finally:
        live.close(True)
        shutil.rmtree(work, ignore_errors=True)
    return outcome


def _into(new: Store, copy: str, progress: Progress, deep: bool) -> Outcome:
    damaged = connect(copy)
    try:
        damaged.pragma("query_only", True)
        _refuse_newer(damaged)
        salvaged = salvage(damaged, new.db, progress)
    finally:
        damaged.close(True)
        for ending in ("-wal", "-shm"):
            if os.path.exists(copy + ending):
                os.unlink(copy + ending)
    doorway = Doorway(new)
    for key, (node_id, parent) in sorted(salvaged.lost_nodes.items()):
        _place_lost(doorway, key, node_id, parent)
    doorway.run(search_index.begin_anew)
    found = verify(new.db, deep=deep, progress=progress)
    mended = repair(new, doorway, found, deep=deep, progress=progress, copy=False)
    return Outcome(salvaged, mended.mended, mended.left, copy, False)


def _place_lost(doorway: Doorway, key: int, node_id: str | None, parent: int | None) -> None:
    try:
        doorway.run(lambda tx: repair_nodes.put_placeholder(tx, key, node_id, parent))
    except SidekeepError:
        return  # the check that follows names it


def _refuse_newer(damaged: apsw.Connection) -> None:
    """Raises StoreNewer; a version that cannot be read is no reason to stop."""
    try:
        found = migrations.versions(damaged)
    except (StorageCorrupt, apsw.CorruptError):
        return
    migrations.check_writable(found, migrations.ladder()[-1].number)


def salvage(damaged: apsw.Connection, new: apsw.Connection, progress: Progress) -> Salvaged:
    """Copy every row that can be read from one open database into another, whose tables are made and empty.

    Raises StorageCorrupt when the damaged file does not even say which tables it has.
    """
    try:
        there = {name for (name,) in damaged.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    except (apsw.CorruptError, apsw.NotADBError):
        there = set()
    if "threads" not in there and "nodes" not in there:
        raise StorageCorrupt("Nothing can be read of the damaged file; it is untouched. Restore a backup.")
    ours = [
        name
        for (name,) in new.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    result = Salvaged({}, [], {}, {})
    new.pragma("foreign_keys", False)
    new.pragma("ignore_check_constraints", True)
    try:
        for name in sorted(ours, key=lambda name: (name not in FIRST, name)):
            if name in there and name not in SKIPPED:
                _copy_table(damaged, new, name, result, progress)
        _keep_counters(damaged, new)
    finally:
        new.pragma("ignore_check_constraints", False)
        new.pragma("foreign_keys", True)
    result.lost_nodes.update(_lost_nodes(damaged, new) if any(gap.table == "nodes" for gap in result.gaps) else {})
    return result


def _copy_table(
    damaged: apsw.Connection, new: apsw.Connection, name: str, result: Salvaged, progress: Progress
) -> None:
    columns = [column for column, in new.execute("SELECT name FROM pragma_table_info(?)", (name,))]  # fmt: skip
    try:
        table = table_of(damaged, name, columns)
        walk = Walk(damaged, table)
        rows = walk.rows(_told(new, name))
        first = next(rows, None)
    except apsw.CorruptError:
        result.gaps.append(Gap(name, None, None))
        return
    values = ", ".join("CAST(? AS TEXT)" if column in table.texts else "?" for column in table.columns)
    named = ", ".join(f'"{column}"' for column in table.columns)
    statement = f'INSERT OR IGNORE INTO "{name}" ({named}) VALUES ({values})'
    taken = refused = 0
    for batch in _batches(first, rows):
        with new:
            for row in batch:
                try:
                    new.execute(statement, row)
                    done = new.changes()
                except (apsw.ConstraintError, apsw.MismatchError):
                    done = 0
                taken += done
                refused += not done
        progress(f"rows of {name}", taken, 0)
    result.rows[name] = taken
    if refused:
        result.refused[name] = refused
    result.gaps.extend(walk.gaps)


def _batches(first: Any, rows: Iterator[Any]) -> Iterator[list[Any]]:
    batch = [] if first is None else [first]
    for row in rows:
        batch.append(row)
        if len(batch) >= ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _told(new: apsw.Connection, name: str) -> Iterable[int]:
    """Row keys that the rows saved so far tell of."""
    if name == "nodes":
        threads: list[Any] = new.execute("SELECT k, next_seq FROM threads").fetchall()
        return node_keys(threads)
    if name == "blob_chunks":
        whole: list[Any] = new.execute("SELECT k, size FROM blobs").fetchall()
        return chunk_keys(whole, CHUNK_BYTES)
    return ()


def _keep_counters(damaged: apsw.Connection, new: apsw.Connection) -> None:
    """A thread's number is never used again, also when the thread is lost."""
    try:
        row = damaged.execute("SELECT value FROM meta WHERE key = 'nextThread'").fetchone()
    except apsw.Error:
        return
    if row is not None and type(row[0]) is int:
        new.execute("UPDATE meta SET value = max(value, ?) WHERE key = 'nextThread'", row)


def _lost_nodes(damaged: apsw.Connection, new: apsw.Connection) -> dict[int, tuple[str | None, int | None]]:
    """Nodes whose rows are lost and whose indexes still tell their id and parent."""
    found: dict[int, tuple[str | None, int | None]] = {}

    def note(statement: str, keep: Callable[[int, Any], None]) -> None:
        for way in ("", " DESC"):
            try:
                for key, value in damaged.execute(statement + way):
                    if new.execute("SELECT 1 FROM nodes WHERE k = ?", (key,)).fetchone() is None:
                        keep(key, value)
                return
            except apsw.Error:
                continue

    def keep_id(key: int, value: bytes) -> None:
        found[key] = (value.decode("utf-8", "replace"), found.get(key, (None, None))[1])

    def keep_parent(key: int, value: int | None) -> None:
        found[key] = (found.get(key, (None, None))[0], value)

    note("SELECT k, CAST(id AS BLOB) FROM nodes INDEXED BY sqlite_autoindex_nodes_1 ORDER BY id", keep_id)
    note("SELECT k, parent FROM nodes INDEXED BY nodes_by_parent ORDER BY parent", keep_parent)
    return found
