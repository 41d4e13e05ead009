"""The runner's bench for jobs: takes what waits, stops what was cancelled, and writes how each ended."""

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Iterable
from time import monotonic
from typing import Any

from sidekeep.jobs.kinds import kind_of
from sidekeep.jobs.work import Desk, Work
from sidekeep.model.errors import Internal, SidekeepError, StorageCorrupt, StoreError
from sidekeep.store import jobs
from sidekeep.store.jobs import JobRow
from sidekeep.store.tx import Tx

#: Jobs at work at once; more wait. A job waits for networks and disks more than it works.
AT_ONCE = 4
#: A job at which so many runners ended in a row, without a step between, is not tried again.
DEATHS = 3
AGAIN_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)

Start = Callable[[str, Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Bench:
    """Used from the runner's loop. `start` makes a task that the runner waits for, `again` wakes it later."""

    def __init__(self, desk: Desk, start: Start, again: Callable[[float], None]) -> None:
        self._desk = desk
        self._start = start
        self._again = again
        self._at_work: dict[str, asyncio.Task[None]] = {}
        self._cancelled: set[str] = set()
        self._let_go: set[str] = set()
        # Taken by this runner; how often the store did not take a step, and when to try again.
        self._taken: dict[str, tuple[int, float]] = {}

    def look(self, waiting: Iterable[JobRow], *, leaving: bool) -> None:
        """Begin what may begin and stop what has to stop; `waiting` are the open jobs, oldest first."""
        for job in waiting:
            task = self._at_work.get(job.id)
            if task is not None:
                if job.cancel_requested and job.id not in self._cancelled | self._let_go:
                    self._cancelled.add(job.id)
                    task.cancel()
            elif not leaving and len(self._at_work) < AT_ONCE and self._taken.get(job.id, (0, 0.0))[1] <= monotonic():
                self._at_work[job.id] = self._start(f"job {job.id}", self._do(job.id))
        if leaving:
            self._hand_over()

    def _hand_over(self) -> None:
        """Put everything back for the next runner; each job goes on there after its last step."""
        for job_id, task in self._at_work.items():
            if job_id not in self._cancelled | self._let_go:
                self._let_go.add(job_id)
                task.cancel()

    async def _do(self, job_id: str) -> None:
        try:
            await self._through(job_id)
        finally:
            del self._at_work[job_id]
            self._cancelled.discard(job_id)
            self._let_go.discard(job_id)

    async def _through(self, job_id: str) -> None:
        job: JobRow | None = None
        try:
            job = await self._take(job_id)
            if job is not None:
                await self._end(job, *await self._outcome(job))
            self._taken.pop(job_id, None)
        except asyncio.CancelledError:
            await self._stopped(job_id, job)
        except StoreError as error:
            self._not_now(job_id, error)

    async def _take(self, job_id: str) -> JobRow | None:
        ours = job_id in self._taken
        self._taken.setdefault(job_id, (0, 0.0))
        taken: JobRow | None = await self._desk.write(
            lambda tx: jobs.take(tx, job_id, ours=ours), lambda tx: jobs.take(tx, job_id, ours=True)
        )
        return taken

    async def _outcome(self, job: JobRow) -> tuple[str, object, SidekeepError | None]:
        """(state, report, error) of the work; a store that takes no write is no outcome and goes up."""
        if job.cancel_requested:
            return "cancelled", None, None
        if job.deaths >= DEATHS:
            return "failed", None, Internal(f"The engine ended {job.deaths} times in a row during this job.")
        try:
            return "done", await kind_of(job.kind)(Work(self._desk, job)), None
        except StoreError:
            raise
        except SidekeepError as error:
            return "failed", None, error
        except Exception as error:
            self._desk.log(f"job {job.id} ({job.kind}): {traceback.format_exc()}")
            return "failed", None, Internal(f"An internal fault ({type(error).__name__}); the runner's log has more.")

    async def _end(self, job: JobRow, state: str, data: object, error: SidekeepError | None) -> None:
        def decide(tx: Tx) -> bool:
            if state == "cancelled":
                return jobs.cancelled(tx, job)
            if error is None:
                return jobs.end(tx, job, state, data=data)
            return jobs.end(tx, job, state, code=error.code, message=error.message)

        await self._desk.write(decide, lambda tx: jobs.get(tx, job.id).state == state or None)

    async def _stopped(self, job_id: str, job: JobRow | None) -> None:
        """Cancelled by a person: it ends. Let go by the runner: it is put back for the next one."""
        try:
            if job is None:
                job = await self._desk.read(lambda tx: jobs.get(tx, job_id))
                assert job is not None
            if job_id in self._cancelled:
                await self._end(job, "cancelled", None, None)
            else:
                held = job
                await self._desk.write(lambda tx: jobs.put_back(tx, held), lambda _tx: None)
        except SidekeepError as error:
            self._not_now(job_id, error)

    def _not_now(self, job_id: str, error: SidekeepError) -> None:
        """The store takes no write: tried again, more and more seldom, from the last step; not in a damaged store."""
        self._desk.log(f"job {job_id} waits: {error.message}")
        times = self._taken.get(job_id, (0, 0.0))[0]
        if isinstance(error, StorageCorrupt):
            self._taken[job_id] = (times, float("inf"))
            return
        pause = AGAIN_SECONDS[min(times, len(AGAIN_SECONDS) - 1)]
        self._taken[job_id] = (times + 1, monotonic() + pause)
        self._again(pause)
