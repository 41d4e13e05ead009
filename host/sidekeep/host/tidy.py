"""What a host does when nothing waits: makes room under the quota, frees bytes, writes when bytes were last read.

One short transaction a step, and never while an op waits, so that no command is held up for longer than a step.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from sidekeep.model.errors import SidekeepError
from sidekeep.model.limits import USED_NOTE_MS
from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway, Unit
from sidekeep.store.reading import reading
from sidekeep.store.tx import Tx

if TYPE_CHECKING:
    from sidekeep.store.search_index import Preparing

#: Commands after which there may be too much, or something to free.
_WAKES = frozenset(
    ("attachment.commit", "attachment.abort", "attachment.delete", "attachment.pin", "page.delete", "thread.delete",
     "settings.set")
)  # fmt: skip


class Tidy:
    """The host's care for room. `due` while a step may have something to do."""

    def __init__(self, doorway: Doorway, read: Callable[[], Tx], places: Places, log: Callable[[str], None]) -> None:
        self._doorway = doorway
        self._read = read
        self._places = places
        self._log = log
        self.due = False
        self._going: list[int] = []
        self._preparing: Preparing | None = None
        # When the notes of reads have to be written; None while there are none.
        self.notes_due: float | None = None

    def heard(self, command: str) -> None:
        """A command was committed."""
        if command in _WAKES:
            self.due = True

    def step(self) -> bool:
        """One short piece of work; whether others have something to hear of it."""
        try:
            return self._make_room() or self._free() or self._warn()
        except SidekeepError as error:
            self._log(f"making room waits for the next chance: {error.message}")
            self.due = False
            self._going = []
            return False

    def _make_room(self) -> bool:
        """Planned once, which looks at every blob; marked in slices, each of which looks again at its own."""
        from sidekeep.store import eviction
        from sidekeep.store.watching import watched_threads

        watched = watched_threads(self._places)
        if not self._going:
            with reading(self._read()) as tx:
                self._going = eviction.plan(tx, watched, most=-1)
        while self._going:
            chosen, self._going = self._going[: eviction.STEP_BLOBS], self._going[eviction.STEP_BLOBS :]
            if self._doorway.run(_marking(eviction.mark, chosen, watched)):
                return True
        return False

    def _free(self) -> bool:
        from sidekeep.store import blobs, uploads

        with reading(self._read()) as tx:
            waits = uploads.is_abandoned(tx) or blobs.is_dropped(tx)
        return waits and bool(self._doorway.run(lambda tx: uploads.sweep_abandoned(tx) + blobs.remove_dropped(tx)))

    def _warn(self) -> bool:
        from sidekeep.store import quota

        self.due = False
        with reading(self._read()) as tx:
            news = quota.usage(tx).warn != quota.is_warned(tx)
        return news and bool(self._doorway.run(quota.warn))

    # ---- the index ----

    def index(self) -> bool:
        """One short piece of filling the index, or of finding that it is full; whether there may be more."""
        from sidekeep.store import search_index

        if self._preparing is None:
            with reading(self._read()) as tx:
                self._preparing = search_index.prepare(tx)
            return self._preparing is not None
        step = self._preparing.go_on()
        if step is not None:
            self._preparing = None
            self._doorway.run(lambda tx: search_index.write(tx, step))
        return True

    def index_while_idle(self) -> bool:
        """The same for when nobody waits for it: what goes wrong is left to the query that needs it."""
        try:
            return self.index()
        except SidekeepError as error:
            self._log(f"the index waits for the next chance: {error.message}")
            return False

    # ---- when bytes were last read ----

    def noted(self) -> None:
        """A read was noted; it is written with the next commit, else after a minute."""
        if self.notes_due is None:
            self.notes_due = monotonic() + USED_NOTE_MS / 1000

    def notes(self) -> Unit | None:
        """The unit that writes the notes, for a group that is committed anyway."""
        if self.notes_due is None:
            return None
        from sidekeep.store import used

        return Unit(used.write)

    def notes_written(self, unit: Unit) -> None:
        if unit.error is None:
            from sidekeep.store import used

            used.forget()
            self.notes_due = None

    def write_notes(self) -> None:
        """Write them now: a minute has passed, or the host leaves."""
        unit = self.notes()
        if unit is not None:
            self._doorway.run_group([unit])
            self.notes_written(unit)
            if unit.error is not None:
                self._log(f"when bytes were read was not written: {unit.error.message}")
                self.notes_due = monotonic() + USED_NOTE_MS / 1000


def _marking(mark: Callable[..., int], chosen: list[int], watched: set[str]) -> Callable[[Tx], int]:
    return lambda tx: mark(tx, chosen, watched)
