"""The runner's writing thread: takes what waits, commits it as a group, and answers the loop.

Nothing else in the process uses the doorway, and no model or network work ever runs here.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from sidekeep.model.errors import Internal
from sidekeep.store.doorway import GROUP_UNITS, Decide, Doorway, Unit

Job = tuple[Callable[[], Any], asyncio.Future[Any]]


class Writer:
    """Runs units for one asyncio loop. `committed` is called in the thread after each group with a success."""

    def __init__(
        self,
        doorway: Doorway,
        loop: asyncio.AbstractEventLoop,
        committed: Callable[[], None],
        log: Callable[[str], None],
    ) -> None:
        self._doorway = doorway
        self._loop = loop
        self._committed = committed
        self._log = log
        self._inbox: SimpleQueue[tuple[Unit, asyncio.Future[Any]] | Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    async def run(self, decide: Decide, settled: Decide | None = None) -> Any:
        """What `decide` returned, once it is on disk. Raises the unit's error (see `doorway.Unit`)."""
        done: asyncio.Future[Any] = self._loop.create_future()
        self._inbox.put((Unit(decide, settled=settled), done))
        # A unit that is under way cannot be taken back: its outcome is awaited, or nobody's.
        return await asyncio.shield(done)

    async def between(self, do: Callable[[], Any]) -> Any:
        """Run something else of the doorway in its thread, between groups."""
        done: asyncio.Future[Any] = self._loop.create_future()
        self._inbox.put((do, done))
        return await asyncio.shield(done)

    def end(self) -> None:
        """Finish what waits, then end the thread."""
        self._inbox.put(None)
        self._thread.join()

    def _work(self) -> None:
        item = self._inbox.get()
        while item is not None:
            first, done = item
            if isinstance(first, Unit):
                item = self._group([(first, done)])
                continue
            try:
                value, error = first(), None
            except Exception as fault:
                value, error = None, fault
            self._answer([(done, value, error)])
            item = self._inbox.get()

    def _group(self, group: list[tuple[Unit, asyncio.Future[Any]]]) -> Any:
        """Commit this unit and those that wait behind it; returns what to take next."""
        rest: Any = None
        while len(group) < GROUP_UNITS:
            try:
                rest = self._inbox.get_nowait()
            except Empty:
                rest = self._inbox.get
                break
            if rest is None or not isinstance(rest[0], Unit):
                break
            group.append(rest)
            rest = self._inbox.get
        units = [unit for unit, _ in group]
        try:
            self._doorway.run_group(units)
        except Exception as fault:
            self._log(f"the writer met {type(fault).__name__}: {fault}")
            for unit in units:
                unit.error = Internal(f"An internal fault ({type(fault).__name__}); the runner's log has more.")
        if any(unit.error is None for unit in units):
            self._committed()
        self._answer([(done, unit.value, unit.error) for unit, done in group])
        return rest() if callable(rest) else rest

    def _answer(self, outcomes: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
        try:
            self._loop.call_soon_threadsafe(_deliver, outcomes)
        except RuntimeError:
            return  # the loop has ended: nobody waits


def _deliver(outcomes: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    for done, value, error in outcomes:
        if done.done():
            continue
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)
            done.exception()  # whoever waited may have been cancelled
