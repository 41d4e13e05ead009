"""Breaks one promise of the product, runs the laboratory, and says whether it noticed.

    python -m durability.sabotage normal

Ends with status 3 and a line that says what was noticed; with 0 when nothing was.
"""

import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from durability.faults import Course, Point, commands, cut_after
from durability.flips import flip_sweep
from durability.judge import Broken, Judge
from durability.locked import nobody_gets_in
from durability.long_images import fast_folder
from durability.recorder import SYNC
from durability.resend import everything_again
from durability.sweep import record, sweep
from sidekeep.model import digests
from sidekeep.store import connection, doorway, opener, receipts, unsynced


def crash(bench: Path) -> None:
    for _ in sweep(record(bench / "recorded", 1, 24), Judge(bench / "image"), 1, 4, every=2):
        pass


def resend(bench: Path) -> None:
    everything_again(bench, seed=11, commands=20, every=17)


def locks(bench: Path) -> None:
    nobody_gets_in(bench, 12)


def flips(bench: Path) -> None:
    flip_sweep(bench, 400, random.Random(1))


def doubt(bench: Path) -> None:
    course = Course(bench, commands(5, 10)).prepare()
    for number in [number for number, kind in enumerate(course.changes()) if kind == SYNC][2:6]:
        for _ in cut_after(course.run(Point(number, "fsync")), course.start, Judge(bench / "image"), 1, 3, number, 80):
            pass


def death_in_doubt(bench: Path) -> None:
    course = Course(bench, commands(7, 8)).prepare()
    for number in [number for number, kind in enumerate(course.changes()) if kind == SYNC][2:6]:
        for _ in cut_after(course.die(number, True), course.start, Judge(bench / "image"), 1, 3, number, 80):
            pass


def normal() -> None:
    """`synchronous=NORMAL`."""

    def connect(*args: Any, **options: Any) -> apsw.Connection:
        db = connection.connect(*args, **options)
        db.pragma("synchronous", "NORMAL")
        return db

    opener.connect = connect


class _Late:
    """A connection whose COMMIT is done before the next BEGIN, when its commands are long acknowledged."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._owed = False

    def execute(self, statement: str, *bindings: Any) -> Any:
        if statement == "COMMIT":
            self._owed = True
            return None
        if self._owed and (statement.startswith(("BEGIN", "PRAGMA"))):
            self._owed = False
            self._db.execute("COMMIT")
        return self._db.execute(statement, *bindings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


def early() -> None:
    """An acknowledgement before the commit."""
    opened = doorway.Doorway.__init__

    def late(self: Any, store: Any, *args: Any, **options: Any) -> None:
        store.db = _Late(store.db)
        opened(self, store, *args, **options)

    doorway.Doorway.__init__ = late  # type: ignore[method-assign]


def no_receipt() -> None:
    """Commands that leave no receipt."""
    receipts.keep = lambda *_: None


def no_digest() -> None:
    """A check of the store that believes every digest."""
    from sidekeep.store import verify_blobs, verify_tree

    verify_tree.digest_of_row = lambda node, _parent=None: node.digest  # type: ignore[assignment]
    verify_blobs._fault = lambda *_: ""  # type: ignore[assignment]
    digests.node_digest = lambda *_: ""  # type: ignore[assignment]


def stray_open() -> None:
    """A look into the store's own files that forgets whose locks fall when they are closed again."""
    keep = receipts.keep

    def look(tx: Any, who: Any, status: str, response: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            with open(f"{_BENCH[0]}/locked/sidekeep.db{suffix}", "rb") as file:
                file.read(100)
        keep(tx, who, status, response)

    receipts.keep = look


def recovers() -> None:
    """A writer that is closed before its successor opens, so that the log is recovered after a failed sync."""
    opener.Store.reconnect = opener.Store.reopen  # type: ignore[method-assign]


def no_mark() -> None:
    """A failed sync that leaves no mark for the next opening."""
    unsynced.note = lambda _places: None


SABOTAGES: dict[str, tuple[Callable[[], None], Callable[[Path], None]]] = {
    "normal": (normal, crash),
    "early": (early, crash),
    "no_receipt": (no_receipt, resend),
    "no_digest": (no_digest, flips),
    "stray_open": (stray_open, locks),
    "recovers": (recovers, doubt),
    "no_mark": (no_mark, death_in_doubt),
}
_BENCH: list[Path] = []


def main(name: str) -> int:
    bench = fast_folder()
    _BENCH.append(bench)
    sabotage, laboratory = SABOTAGES[name.removesuffix("!")]
    try:
        if not name.endswith("!"):  # the product as it is, for the control
            sabotage()
        laboratory(bench)
    except Broken as broken:
        sys.stdout.write(f"noticed: {broken}\n")
        return 3
    finally:
        shutil.rmtree(bench, ignore_errors=True)
    sys.stdout.write("nothing was noticed\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main(sys.argv[1]))
