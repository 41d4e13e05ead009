"""What a check of the store has found: faults with what a repair would do, and remarks that are no faults."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw

#: Findings that are kept one by one; more are counted.
KEPT = 10_000

#: Called with the name of what is being checked and how far it is; whatever it raises ends the check.
Progress = Callable[[str, int, int], None]


class Finding(NamedTuple):
    """One fault. `repair` says what `--repair` does about it, empty where nothing can be done in place.

    `key` and `more` are for the repair alone: the row's key, and what it needs besides.
    """

    code: str
    message: str
    repair: str = ""
    thread: str | None = None
    id: str | None = None
    key: int | None = None
    more: Any = None

    def shown(self) -> dict[str, Any]:
        """As a member of the command's JSON document."""
        entry: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.thread:
            entry["threadId"] = self.thread
        if self.id:
            entry["id"] = self.id
        if self.repair:
            entry["repair"] = self.repair
        return entry


class Report:
    """What was looked at and what was found. `unreadable` says that pages of the file itself are damaged."""

    def __init__(self, deep: bool, progress: Progress) -> None:
        self.deep = deep
        self.findings: list[Finding] = []
        self.faults: Counter[str] = Counter()
        self.remarks: Counter[str] = Counter()
        self.checked: Counter[str] = Counter()
        self.unreadable = False
        self.progress = progress

    @property
    def sound(self) -> bool:
        return not self.faults

    def fault(
        self,
        code: str,
        message: str,
        repair: str = "",
        *,
        thread: str | None = None,
        id: str | None = None,
        key: int | None = None,
        more: Any = None,
    ) -> None:
        self.faults[code] += 1
        if len(self.findings) < KEPT:
            self.findings.append(Finding(code, message, repair, thread, id, key, more))

    def remark(self, code: str) -> None:
        """Something a person may want to know, that is no fault (any more)."""
        self.remarks[code] += 1

    def damaged(self, what: str, error: apsw.Error) -> None:
        """A part of the file that cannot be read."""
        self.unreadable = True
        self.fault("pages_damaged", f"{what} cannot be read in part: {error}.", SALVAGE)

    def shown(self) -> dict[str, Any]:
        return {
            "ok": self.sound,
            "deep": self.deep,
            "checked": dict(self.checked),
            "faults": dict(self.faults),
            "remarks": dict(self.remarks),
            "findings": [finding.shown() for finding in self.findings],
        }


class Look:
    """A connection that is only read from, a row at a time."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def rows(self, statement: str, bindings: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        yield from self._db.execute(statement, bindings)

    def one(self, statement: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        return next(self.rows(statement, bindings), None)

    def some(self, statement: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """The one row of a statement that always has one."""
        return next(self.rows(statement, bindings))

    def number(self, statement: str, bindings: tuple[Any, ...] = ()) -> int:
        """The one number of a statement that always has a row; 0 for what is none."""
        row = self.one(statement, bindings)
        return row[0] if row is not None and type(row[0]) is int else 0

    @contextmanager
    def calling(self, often: Callable[[], None]) -> Iterator[None]:
        """While a statement works inside, `often` is called now and then; what it raises ends the statement."""

        def step() -> bool:
            often()
            return False

        self._db.set_progress_handler(step, _STEPS)
        try:
            yield
        finally:
            self._db.set_progress_handler(None)


_STEPS = 50_000
SALVAGE = "save what can be read into a new database file and put that in its place; the damaged one is kept"
