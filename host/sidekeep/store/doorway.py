"""The one door for writes: groups of units in one transaction, receipts inside, three outcomes.

A unit is done, refused, or, after a COMMIT that failed, unknown; unknown is settled here by running the
unit again on a new connection, where its receipt (or its own check) says whether it took hold.
"""

from collections.abc import Callable
from typing import Any

import apsw

from sidekeep.model import limits
from sidekeep.model.clock import now_ms
from sidekeep.model.errors import Internal, Refusal, SidekeepError, StoreBusy
from sidekeep.model.ids import new_id
from sidekeep.store import receipts, unsynced
from sidekeep.store.connection import typed
from sidekeep.store.opener import Store, make_durable
from sidekeep.store.receipts import Identity
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

GROUP_UNITS = limits.GROUP_COMMANDS
GROUP_BYTES = limits.GROUP_BYTES
CHECKPOINT_PAGES = limits.WAL_CHECKPOINT_BYTES // 4096
WAL_BYTES = limits.WAL_KEPT_BYTES
_PADDING = 128 * 1024

Decide = Callable[[Tx], Any]


class Unit:
    """One decision: afterwards `error` is set, or `value` (what `decide` returned).

    For a command, `identity` makes the receipt and `response` is the terminal answer as JSON text. A unit
    without identity gives `settled`: after a failed COMMIT it looks whether the unit took hold, and returns
    its value, or None to have it run again. `light` says that it looks at its thread's row through `Tx.thread`
    only, so that the row need not be written before the next unit.
    """

    __slots__ = ("decide", "error", "identity", "light", "replayed", "response", "settled", "size", "value")

    def __init__(
        self,
        decide: Decide,
        identity: Identity | None = None,
        settled: Decide | None = None,
        size: int = 0,
        light: bool = False,
    ) -> None:
        self.decide = decide
        self.identity = identity
        self.settled = settled
        self.size = size
        self.light = light
        self.value: Any = None
        self.response: str | None = None
        self.error: SidekeepError | None = None
        self.replayed = False


class Doorway:
    """The writer of one process; used by one thread."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], int] = now_ms,
        make_id: Callable[[], str] = new_id,
        log: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = make_id
        self._log = log
        self._doubtful = False
        self._marked = False
        self._logged = False
        self._broken: SidekeepError | None = None
        self._pages = 0
        self._watch()

    @property
    def pages_in_log(self) -> int:
        """Frames in the write-ahead log after the last commit."""
        return self._pages

    def run(self, decide: Decide, settled: Decide | None = None) -> Any:
        """One unit alone; returns what `decide` returned, or raises its error."""
        unit = Unit(decide, settled=settled)
        self.run_group([unit])
        if unit.error is not None:
            raise unit.error
        return unit.value

    def run_group(self, units: list[Unit]) -> None:
        """Commit the units together; each has its outcome afterwards. Never raises for a unit."""
        try:
            self._ready()
        except (apsw.Error, SidekeepError) as error:
            _fail(units, typed(error))
            return
        if self._together(units):
            return
        for unit in units:
            self._alone(unit)

    def _ready(self) -> None:
        """After a failed sync nothing is written until what is in the log has reached the disk."""
        if self._broken is not None:
            raise self._broken
        if self._doubtful:
            self._store.reconnect()
            self._watch()
            self._doubtful = False
        elif self._inode != self._store.wal_inode():
            self._log("the log file was replaced by another one; opening again")
            self._store.reopen()
            self._watch()

    def _watch(self) -> None:
        self._store.db.set_wal_hook(self._committed)
        # The first read makes the log file, whose identity is then known.
        self._store.db.execute("SELECT 1 FROM meta LIMIT 1").fetchone()
        self._inode = self._store.wal_inode()

    def _committed(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        self._logged = True
        return apsw.SQLITE_OK

    def _together(self, units: list[Unit]) -> bool:
        """One transaction for all; False when they have to run one by one."""
        db = self._store.db
        try:
            if not self._hopefully(units):
                if len(units) == 1:
                    return False
                db.execute("BEGIN IMMEDIATE")
                now = self._clock()
                for unit in units:
                    self._in_savepoint(unit, now)
        except BaseException as error:
            self._undo()
            if len(units) > 1 and not isinstance(error, apsw.Error | SidekeepError):
                self._log(f"a group is run one by one: {type(error).__name__}: {error}")
            return False
        try:
            db.execute("COMMIT")
        except apsw.Error as error:
            self._log(f"COMMIT failed: {error}; the commands are settled one by one")
            self._undo()
            self._doubt()
            return False
        self._after_commit()
        return True

    def _hopefully(self, units: list[Unit]) -> bool:
        """The way of nearly every group, which holds no refusal and no resend: no savepoints (each costs a copy of
        every page), no look for standing receipts, one write of a thread's row for all light units. Where that
        hope fails nothing is left of it, and False is returned."""
        self._store.db.execute("BEGIN IMMEDIATE")
        threads: dict[str, ThreadRow | None] = {}
        tx = Tx(self._store.db, self._clock(), self._new_id, threads)
        try:
            for unit in units:
                if unit.light:
                    self._decide(unit, tx)
                    tx.hold()
                    continue
                # It may look at what the row in memory does not show, or change what that one holds.
                tx.finish()
                threads.clear()
                self._decide(unit, tx)
                tx.finish()
                threads.clear()
            tx.finish()
        except (SidekeepError, receipts.Standing):
            self._undo()
            return False
        return True

    def _alone(self, unit: Unit) -> None:
        """Up to three tries: refused work is final, an unknown outcome is settled and then run again."""
        unknown = False
        # What a try together had come to holds no more.
        unit.error = unit.value = unit.response = None
        unit.replayed = False
        for _ in range(3):
            try:
                self._ready()
                self._store.db.execute("BEGIN IMMEDIATE")
                tx = Tx(self._store.db, self._clock(), self._new_id)
                if unknown and unit.settled is not None:
                    unit.value = unit.settled(tx)
                if unknown and unit.value is not None:
                    unit.error = None
                else:
                    self._in_savepoint(unit, tx.now)
            except BaseException as error:
                self._undo()
                unit.error, unit.response = self._explain(error), None
                return
            try:
                self._store.db.execute("COMMIT")
            except apsw.Error as error:
                self._log(f"COMMIT failed: {error}")
                unit.error, unit.value, unit.response = typed(error), None, None
                self._undo()
                self._doubt()
                unknown = True
                continue
            self._after_commit()
            return
        # Still unknown: the answer is retryable, and the same command again is settled by its receipt.
        if unit.error is None or not unit.error.retryable:
            unit.error = StoreBusy("The disk did not confirm the write; the same command again settles it.")

    def _doubt(self) -> None:
        """A sync may have failed: the log holds frames that no later sync need bring to the disk."""
        self._doubtful = self._marked = True
        self._logged = False
        try:
            unsynced.note(self._store.places)
        except OSError as error:
            self._log(f"the mark of a failed sync could not be left: {error}")

    def _explain(self, error: BaseException) -> SidekeepError:
        if not isinstance(error, Exception):
            raise error
        known = typed(error)
        if known.code == "storage_corrupt":
            # What is readable stays readable; nothing more is written by this process.
            self._broken = known
        if isinstance(known, Internal) and not isinstance(error, SidekeepError):
            import traceback

            self._log("".join(traceback.format_exception(error)))
        return known

    def _decide(self, unit: Unit, tx: Tx) -> None:
        """The unit's work and its receipt; touched threads are not written yet. Raises Standing."""
        unit.error = unit.response = None
        unit.replayed = False
        unit.value = unit.decide(tx)
        who = unit.identity
        if who is not None:
            unit.response = acknowledgement(who.submission_id, unit.value)
            receipts.keep(tx, who, "acknowledged", unit.response)

    def _in_savepoint(self, unit: Unit, now: int) -> None:
        db = self._store.db
        unit.error = unit.value = unit.response = None
        unit.replayed = False
        db.execute("SAVEPOINT unit")
        tx = Tx(db, now, self._new_id)
        who = unit.identity
        try:
            if who is not None:
                unit.response = receipts.standing(tx, who)
                if unit.response is not None:
                    unit.replayed = True
                    db.execute("RELEASE unit")
                    return
            self._decide(unit, tx)
            tx.finish()
        except SidekeepError as error:
            if not isinstance(error, Refusal) and not error.keeps_receipt:
                raise
            db.execute("ROLLBACK TO unit")
            unit.error = error
            if callable(error.also):
                after = Tx(db, now, self._new_id)
                error.also(after)
                after.finish()
            if who is not None:
                unit.response = rejection(who.submission_id, error)
                if error.keeps_receipt:
                    receipts.keep(Tx(db, now, self._new_id), who, "rejected", unit.response)
        db.execute("RELEASE unit")

    def _undo(self) -> None:
        db = self._store.db
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except apsw.Error as error:
            self._log(f"ROLLBACK failed: {error}")
            self._doubtful = True

    def _after_commit(self) -> None:
        if self._marked and self._logged:
            # This commit lies over what a failed sync had left.
            self._marked = False
            unsynced.clear(self._store.places)
        if self._pages >= CHECKPOINT_PAGES:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Copy what can be copied from the log into the database, waiting for nobody."""
        try:
            self._store.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except apsw.Error as error:
            # The log simply stays longer; a failed sync must be made good before the next answer.
            self._log(f"checkpoint failed: {error}")
            self._doubtful = True

    def leave(self, look: Decide, release: Callable[[], None]) -> bool:
        """Give up this process's part while nobody can admit work: under the write lock look once more, and
        only if `look` finds nothing call `release`. Returns whether it was called.

        "Look, then release" without the lock lost 2 of 12,000 admissions; this lost none, because those who
        admit work test for a runner only after their COMMIT. Raises StoreBusy, StorageFull.
        """
        try:
            self._ready()
            self._store.db.execute("BEGIN IMMEDIATE")
            if look(Tx(self._store.db, self._clock(), self._new_id)):
                return False
            release()
        except apsw.Error as error:
            raise typed(error) from error
        finally:
            self._undo()
        return True

    def allocate_log(self) -> bool:
        """Give the log its full size once, by a large transaction that is rolled back.

        A commit that overwrites allocated blocks needs no change of the file's metadata (p50 506 → 322 µs).
        Returns whether it had to be done.
        """
        import os

        if os.stat(self._store.places.database + "-wal").st_size >= WAL_BYTES:
            return False
        db = self._store.db
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute("CREATE TABLE padding (bytes BLOB)")
            for _ in range(WAL_BYTES // _PADDING):
                db.execute("INSERT INTO padding VALUES (zeroblob(?))", (_PADDING,))
                db.cache_flush()
        except apsw.Error as error:
            self._log(f"the log could not be given its full size: {error}")
        finally:
            self._undo()
        return True

    def make_durable(self) -> None:
        """A full checkpoint, as the opener does. Raises StoreBusy, StorageFull."""
        try:
            make_durable(self._store.db)
        except apsw.Error as error:
            raise typed(error) from error


def _fail(units: list[Unit], error: SidekeepError) -> None:
    for unit in units:
        unit.error = error
        unit.response = None


def acknowledgement(submission_id: str, body: dict[str, object] | None) -> str:
    return dumps({"type": "command.ack", "submissionId": submission_id, **(body or {})})


def rejection(submission_id: str, error: SidekeepError) -> str:
    return dumps(
        {
            "type": "command.rejected",
            "submissionId": submission_id,
            "code": error.code,
            "message": error.message,
            "retryable": error.retryable,
            **error.extra,
        }
    )
