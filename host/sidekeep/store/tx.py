"""One unit of work inside a transaction: reads, writes, touched threads, and what others hear of it."""

from collections.abc import Callable, Sequence
from typing import Any

import apsw
import msgspec

from sidekeep.store import lossy
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow

sql = statements(__file__)
Row = tuple[Any, ...]
Bindings = Sequence[Any]


def dumps(value: object) -> str:
    """Compact JSON text."""
    return msgspec.json.encode(value).decode()


class Tx:
    """What a command sees of the store. `now` is one time for the whole unit."""

    __slots__ = ("_db", "_threads", "new_id", "now")

    def __init__(
        self,
        db: apsw.Connection,
        now: int,
        new_id: Callable[[], str],
        threads: dict[str, ThreadRow | None] | None = None,
    ) -> None:
        """`threads` are the rows that earlier units of the same transaction have read and written."""
        self._db = db
        self.now = now
        self.new_id = new_id
        self._threads: dict[str, ThreadRow | None] = {} if threads is None else threads

    def one(self, statement: str, bindings: Bindings = ()) -> Row | None:
        try:
            return self._db.execute(statement, bindings).fetchone()
        except UnicodeDecodeError:
            return next(iter(lossy.rows(self._db, statement, bindings)), None)

    def all(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        try:
            return self._db.execute(statement, bindings).fetchall()
        except UnicodeDecodeError:
            return lossy.rows(self._db, statement, bindings)

    def run(self, statement: str, bindings: Bindings = ()) -> None:
        self._db.execute(statement, bindings)

    def changed_rows(self) -> int:
        """How many rows the last statement changed."""
        return self._db.changes()

    def insert_key(self) -> int:
        """The integer key of the row inserted last."""
        return self._db.last_insert_rowid()

    def thread(self, thread_id: str) -> ThreadRow | None:
        """The thread's row, shared by all that this unit does with it; written once, at the end."""
        try:
            return self._threads[thread_id]
        except KeyError:
            row = self.one(sql.thread, (thread_id,))
            found = self._threads[thread_id] = None if row is None else ThreadRow(row)
            return found

    def reload_thread(self, thread_id: str) -> ThreadRow:
        """The row of a thread that was just inserted."""
        self._threads.pop(thread_id, None)
        row = self.thread(thread_id)
        assert row is not None
        return row

    def thread_by_key(self, key: int) -> ThreadRow | None:
        row = self.one(sql.thread_id, (key,))
        return None if row is None else self.thread(row[0])

    def forget_thread(self, thread_id: str) -> None:
        """Its row is gone: nothing more is written to it."""
        self._threads[thread_id] = None

    def change(
        self,
        kind: str,
        thread: str | None = None,
        id: str | None = None,
        revision: int | None = None,
        detail: dict[str, object] | None = None,
    ) -> None:
        """Tell every process, after the commit. `kind` is an event's type, `detail` its further members."""
        self.run(sql.change, (self.now, kind, thread, id, revision, None if detail is None else dumps(detail)))

    def hold(self) -> None:
        """The end of a unit whose threads are written later, by `finish`."""
        for row in self._threads.values():
            if row is not None:
                row.hold()

    def finish(self) -> None:
        """Write the touched threads, one UPDATE and one change each."""
        self.hold()
        for row in self._threads.values():
            if row is not None and row.held:
                patch = row.patch()
                names, values = row.take_held()
                self.run(
                    f"UPDATE threads SET {', '.join(f'{name} = ?' for name in names)} WHERE k = ?",
                    (*values, row.k),
                )
                if patch:
                    self.change("thread.updated", row.id, None, row.revision, {"patch": patch})
