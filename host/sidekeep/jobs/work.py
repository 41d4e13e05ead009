"""What a job holds while it is done: its parameters, where it was left, and the one way to get on.

A step is one transaction: what it wrote and the position after it are on disk together, so that a job that is
taken up again after any death does no step twice and leaves none out.
"""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from sidekeep.model.places import Places
from sidekeep.store import jobs
from sidekeep.store.jobs import JobRow
from sidekeep.store.tx import Tx
from sidekeep.turns.models import ModelPool


class Desk(Protocol):
    """What jobs need of the runner."""

    models: ModelPool
    log: Callable[[str], None]

    @property
    def places(self) -> Places: ...

    async def write(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any]) -> Any: ...

    async def read(self, look: Callable[[Tx], Any]) -> Any: ...


class Work:
    """One job in hand. `position` is what the last step left, None at the beginning."""

    def __init__(self, desk: Desk, job: JobRow) -> None:
        self._desk = desk
        self._job = job
        self.params: dict[str, Any] = msgspec.json.decode(job.params)

    @property
    def id(self) -> str:
        return self._job.id

    @property
    def client_id(self) -> str | None:
        return self._job.client_id

    @property
    def position(self) -> Any:
        return None if self._job.position is None else msgspec.json.decode(self._job.position)

    @property
    def done(self) -> int:
        return self._job.done

    @property
    def models(self) -> ModelPool:
        return self._desk.models

    @property
    def places(self) -> Places:
        return self._desk.places

    def log(self, line: str) -> None:
        self._desk.log(f"job {self._job.id}: {line}")

    async def read(self, look: Callable[[Tx], Any]) -> Any:
        """What `look` finds, in one consistent view, in another thread."""
        return await self._desk.read(look)

    async def step(
        self,
        position: object,
        *,
        done: int,
        total: int | None = None,
        note: str = "",
        write: Callable[[Tx], Any] | None = None,
    ) -> Any:
        """Commit what `write` does together with the position after it, and tell everybody how far it is.

        Returns what `write` returned (None for a step whose COMMIT was settled as done by a second look). Raises
        Conflict when the job has ended meanwhile, and what `write` raises; then nothing of the step is written.
        """
        before = self._snapshot()

        def decide(tx: Tx) -> tuple[Any]:
            self._restore(before)
            value = write(tx) if write is not None else None
            jobs.step(tx, self._job, done, total, note, position)
            return (value,)

        wanted = jobs.written(position)

        def settled(tx: Tx) -> tuple[Any] | None:
            row = jobs.get(tx, self._job.id)
            return (None,) if (row.done, row.position) == (done, wanted) != before[:2] else None

        return (await self._desk.write(decide, settled))[0]

    async def also(self, write: Callable[[Tx], Any]) -> Any:
        """A transaction that is no step of its own: what it writes may be written again after a death."""
        return await self._desk.write(write, lambda _tx: None)

    def _snapshot(self) -> tuple[int, str | None, int]:
        return self._job.done, self._job.position, self._job.deaths

    def _restore(self, before: tuple[int, str | None, int]) -> None:
        """A transaction that is run again begins from what was there before it."""
        self._job.done, self._job.position, self._job.deaths = before
