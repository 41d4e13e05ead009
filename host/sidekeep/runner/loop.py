"""The runner's one loop: looks at the store when the bell rings, starts and stops turns, rests, and leaves.

At rest nothing wakes it without cause: it waits for the bell and, in a thread, for the death of a host.
"""

import asyncio
import signal
import traceback
from collections.abc import Callable, Coroutine
from functools import partial
from time import monotonic
from typing import Any

from sidekeep.jobs.bench import Bench
from sidekeep.model.errors import SidekeepError
from sidekeep.model.ids import new_id
from sidekeep.model.limits import RUNNER_IDLE_MS
from sidekeep.model.places import Places
from sidekeep.runner.archiving import Archiving
from sidekeep.runner.hosts import Hosts
from sidekeep.runner.live_writer import LiveWriter
from sidekeep.runner.reader import Reader
from sidekeep.runner.reconcile import reconcile_interrupted_runs
from sidekeep.runner.writer import Writer
from sidekeep.store import care, handover, jobs, room, run_queue, search_index, secrets, sync_state
from sidekeep.store.bell import Bell
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import Store
from sidekeep.store.run_queue import Waiting
from sidekeep.store.tx import Tx
from sidekeep.turns.claim import begin, begun_by
from sidekeep.turns.held import Held
from sidekeep.turns.models import ModelPool
from sidekeep.turns.titles import name_thread
from sidekeep.turns.turn import Turn

CARE_AFTER_SECONDS = 2.0
CARE_EVERY_SECONDS = 24 * 3600.0
EACH_SECONDS = 60.0
CHECKPOINT_PAGES = 1024
POLL_SECONDS = 0.2
AGAIN_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
LET_GO_SECONDS = 5.0


class Runner:
    """Executes what waits in one store until nobody needs it. It is the `Work` of its turns."""

    def __init__(
        self,
        store: Store,
        doorway: Doorway,
        bell: Bell | None,
        *,
        version: str,
        release: Callable[[], None],
        deposed: Callable[[], bool],
        log: Callable[[str], None],
        first_commit: Callable[[], None] = lambda: None,
        idle_seconds: float = RUNNER_IDLE_MS / 1000,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._store = store
        self._doorway = doorway
        self._bell = bell
        self._version = version
        self._release = release
        self._deposed = deposed
        self._first_commit: Callable[[], None] | None = first_commit
        self._idle_seconds = idle_seconds
        self.log = log
        self._wake = asyncio.Event()
        self._writer = Writer(doorway, self._loop, self._committed, log)
        self._reader = Reader(store)
        self._hosts = Hosts(store.places, self._from_thread)
        self.models = ModelPool(self._secret, log)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asides: set[asyncio.Task[None]] = set()
        # Runs that could not be taken: how often so far, and when to try again.
        self._refused: dict[str, tuple[int, float]] = {}
        self._turns: dict[str, Turn] = {}
        self._taking: set[str] = set()
        self._bench = Bench(self, self._start_job, self._again)
        self._archiving = Archiving(store.places, self._reader.now, self._writer.run, self._from_thread, log)
        self._alone_since: float | None = None
        self._care_due: float | None = monotonic() + CARE_AFTER_SECONDS
        self._cared = float("-inf")
        self._now_and_then = self._loop.create_task(self._each_minute())
        self._stopping = False
        self._fatal = False

    # --- what turns and jobs need ---

    @property
    def places(self) -> Places:
        return self._store.places

    async def write(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any]) -> Any:
        return await self._writer.run(decide, settled)

    async def read(self, look: Callable[[Tx], Any]) -> Any:
        return await self._loop.run_in_executor(self._reader.pool, self._reader.now, look)

    async def fill_index(self) -> None:
        """Until a search sees all that was committed."""
        while (preparing := await self.read(search_index.prepare)) is not None:
            while (step := await self._loop.run_in_executor(self._reader.pool, preparing.go_on)) is None:
                continue
            await self._writer.run(partial(search_index.write, step=step), lambda _tx: None)

    def rests(self) -> None:
        """A turn waits for a person or a time: perhaps nothing keeps this runner any more."""
        self._wake.set()

    def watched(self, thread_id: str) -> bool:
        return self._hosts.watched(thread_id)

    def _secret(self, name: str) -> str:
        from sidekeep.vault import Vault  # only where a key is needed

        sealed = self._reader.now(lambda tx: secrets.sealed(tx, name))
        return Vault(self._store.places).open(name, sealed)

    # --- the loop ---

    async def run(self) -> int:
        """Until it may leave; returns the exit status. The lock has been let go by then."""
        self._listen()
        handover.arrived(self._store.places, self._version)
        released = False
        try:
            await reconcile_interrupted_runs(self, self._store.places, self.log)
            while not released and not self._fatal:
                self._wake.clear()
                await self._look()
                await self._care_if_due()
                released = await self._left()
                if not released and not self._wake.is_set() and not self._fatal:
                    await self._rest()
        finally:
            await self._close()
            if not released:
                self._release()
        return 1 if self._fatal else 0

    def _listen(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                self._loop.add_signal_handler(number, self._stop)
            except NotImplementedError:  # Windows: the console ends the process
                break
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
        if self._bell is not None:
            self._loop.add_reader(self._bell.fileno(), self._rang, self._bell)

    def _rang(self, bell: Bell) -> None:
        bell.drain()
        self._wake.set()

    def _ring(self) -> None:
        if self._bell is not None:
            self._bell.ring()

    def _committed(self) -> None:
        """In the writer's thread."""
        self._ring()
        first, self._first_commit = self._first_commit, None
        if first is not None:
            first()

    def _from_thread(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._wake.set)
        except RuntimeError:
            return  # the loop has ended

    def _stop(self) -> None:
        self._stopping = True
        self._wake.set()

    async def _look(self) -> None:
        """What the store says now: turns to stop or to drop, and runs to start."""
        leaving = self._stopping or handover.wanted_by_newer(self._store.places, self._version)
        try:
            open_runs, open_jobs = await self.read(lambda tx: (run_queue.open_runs(tx), jobs.open_jobs(tx)))
        except SidekeepError as error:
            self.log(f"the store could not be read: {error.message}")
            self._again(1.0)
            return
        self._steer({run.id: run for run in open_runs})
        self._archiving.look()
        self._bench.look(open_jobs, leaving=bool(leaving))
        if leaving:
            self._park()
            return
        for run in run_queue.startable(open_runs, self._tasks):
            if self._refused.get(run.id, (0, 0.0))[1] > monotonic():
                continue
            self._care_due = self._alone_since = None
            task = self._loop.create_task(self._execute(run.id))
            self._tasks[run.id] = task
            task.add_done_callback(partial(self._ended, run.id))

    def _start_job(self, name: str, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        self._care_due = self._alone_since = None
        task = self._loop.create_task(work)
        self._tasks[name] = task
        task.add_done_callback(partial(self._ended, name))
        return task

    def _steer(self, open_runs: dict[str, Waiting]) -> None:
        for run_id, turn in self._turns.items():
            row = open_runs.get(run_id)
            # An attempt below ours is an older view of the store.
            if row is None or not row.held or row.attempt > turn.held.attempt:
                turn.drop()
            elif row.interrupt_requested:
                turn.interrupt()
            else:
                turn.look()

    def _park(self) -> None:
        """Turns that wait for a person or a time are left to the next runner."""
        for turn in self._turns.values():
            if turn.resting:
                turn.hand_over()

    def _busy(self) -> bool:
        """Whether anything here goes on or ends by itself: more than turns that wait for a person."""
        resting = sum(turn.resting and turn.due is None for turn in self._turns.values())
        return len(self._tasks) > resting

    async def _execute(self, run_id: str) -> None:
        move = new_id()
        self._taking.add(run_id)
        try:
            mine = await self.write(
                lambda tx: begin(tx, run_id, move, watched=self._watched_run(tx, run_id)),
                lambda tx: begun_by(tx, run_id, move),
            )
        except SidekeepError as error:
            self._not_taken(run_id, error)
            return
        finally:
            self._taking.discard(run_id)
        self._refused.pop(run_id, None)
        if not isinstance(mine, Held):
            return
        live = LiveWriter(self._store.places, mine.run_id, mine.attempt, self._ring, self._disk_refused)
        turn = self._turns[run_id] = Turn(self, mine, live)
        if self._stopping:
            turn.hand_over()
        try:
            # A run that was taken is a turn's at once: whoever leaves meanwhile hands it over.
            await self._archiving.stage(mine.thread_id, mine.run_id)
            whole = await turn.execute()
        finally:
            del self._turns[run_id]
            live.finish()
        # The run is over: the thread's queue goes on while the thread is given its name.
        del self._tasks[run_id]
        self._wake.set()
        if whole and not self._stopping:
            naming = self._loop.create_task(self._name(mine))
            self._tasks[f"title of {run_id}"] = naming
            naming.add_done_callback(lambda done: self._ended(f"title of {run_id}", done))

    def _not_taken(self, run_id: str, error: SidekeepError) -> None:
        """The disk is full, or something like it: tried again, more and more seldom."""
        times = self._refused.get(run_id, (0, 0.0))[0]
        pause = AGAIN_SECONDS[min(times, len(AGAIN_SECONDS) - 1)]
        self._refused[run_id] = (times + 1, monotonic() + pause)
        self.log(f"run {run_id} could not be taken: {error.message}")
        self._again(pause)

    def _disk_refused(self, error: OSError) -> None:
        """A live file could not be written: the user is told, if the store still takes a line."""
        self.log(f"a live file cannot be written: {error}")
        told = room.warning(self._store.places)
        telling = self._loop.create_task(self._tell_of_the_disk(told))
        self._asides.add(telling)
        telling.add_done_callback(self._asides.discard)

    async def _tell_of_the_disk(self, told: dict[str, Any]) -> None:
        try:
            await self.write(lambda tx: room.warn(tx, told), lambda _tx: None)
        except SidekeepError as error:
            self.log(f"nobody could be told of it: {error.message}")

    def _watched_run(self, tx: Tx, run_id: str) -> bool:
        row = tx.one("SELECT t.id FROM runs r JOIN threads t ON t.k = r.thread WHERE r.id = ?", (run_id,))
        return row is not None and self.watched(row[0])

    async def _name(self, mine: Held) -> None:
        try:
            await name_thread(self, mine)
        except SidekeepError as error:
            self.log(f"thread {mine.thread_id} was not named: {error.code} {error.message}")
        except Exception:
            # No title is worth the turns of other threads.
            self.log(f"thread {mine.thread_id} was not named: {traceback.format_exc()}")

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.log("".join(traceback.format_exception(error)))
            # A run that can be neither written nor dropped: the next runner finds what it is.
            self._fatal = True
        if not self._tasks:
            self._care_due = monotonic() + CARE_AFTER_SECONDS
        self._wake.set()

    def _again(self, seconds: float) -> None:
        self._loop.call_later(seconds, self._wake.set)

    # --- rest ---

    async def _care_if_due(self) -> None:
        """When nothing runs: copy the log back, and once a day remove what is old."""
        if self._tasks or self._care_due is None or monotonic() < self._care_due:
            return
        self._care_due = None
        if self._doorway.pages_in_log > CHECKPOINT_PAGES:
            await self._writer.between(self._doorway.checkpoint)
        if monotonic() - self._cared >= CARE_EVERY_SECONDS:
            self._cared = monotonic()
            self._loop.call_later(CARE_EVERY_SECONDS, self._care_now)
            await self._care()

    def _care_now(self) -> None:
        self._care_due = monotonic()
        self._wake.set()

    async def _care(self) -> None:
        try:
            for step in care.STEPS:
                while not self._tasks and await self._writer.run(step, lambda _tx: None):
                    await asyncio.sleep(0)
        except SidekeepError as error:
            self.log(f"the store's care waits: {error.message}")

    async def _each_minute(self) -> None:
        """Begin what the settings want from time to time."""
        while True:
            await asyncio.sleep(EACH_SECONDS)
            try:
                if await self.read(sync_state.due) is not None and await self.write(
                    sync_state.begin_due, lambda _tx: None
                ):
                    self._wake.set()
            except SidekeepError as error:
                self.log(f"what is due waits: {error.message}")

    async def _rest(self) -> None:
        """Until the bell, a turn's end, a host's death, or the time of something due."""
        dues = [] if self._care_due is None else [self._care_due]
        if self._alone_since is not None:
            dues.append(self._alone_since + self._idle_seconds)
        seconds = [max(0.0, due - monotonic()) for due in dues]
        if self._bell is None:
            seconds.append(POLL_SECONDS)
        timer = self._loop.call_later(min(seconds), self._wake.set) if seconds else None
        await self._wake.wait()
        if timer is not None:
            timer.cancel()

    async def _left(self) -> bool:
        """Whether the lock was let go: told to stop, a newer version waits, or nobody needs a runner."""
        if self._deposed():
            self.log("the store's folder was removed or replaced; there is nothing left to serve")
            for turn in self._turns.values():
                turn.drop()
            self._release()
            return True
        if self._stopping:
            await self._hand_over()
            self._release()
            return True
        if handover.wanted_by_newer(self._store.places, self._version):
            if self._tasks:
                return False
            self.log("a newer version takes over")
            self._release()
            return True
        if self._busy():
            self._alone_since = None
            return False
        if self._archiving.busy:
            return False
        hosts = self._hosts.living()
        if hosts:
            self._alone_since = None
            self._hosts.await_death(hosts[0])
            return False
        if self._alone_since is None:
            self._alone_since = monotonic()
        if monotonic() < self._alone_since + self._idle_seconds:
            return False
        return await self._leave_if_nobody_needs_it()

    async def _leave_if_nobody_needs_it(self) -> bool:
        def work(tx: Tx) -> bool:
            waiting = run_queue.startable(run_queue.open_runs(tx), ())
            return any(not run.rests for run in waiting) or bool(jobs.open_jobs(tx))

        self._park()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=LET_GO_SECONDS)
        try:
            left = await self._writer.between(lambda: self._doorway.leave(work, self._release))
        except SidekeepError as error:
            self.log(f"leaving waits: {error.message}")
            # Where nothing can be written, nobody admits work that would be lost.
            left = not error.retryable
            if left:
                self._release()
        self._alone_since = None
        if not left:
            self._wake.set()
        return bool(left)

    async def _hand_over(self) -> None:
        """End the calls in hand and mark their runs, so that the next runner goes on with them."""
        for turn in self._turns.values():
            turn.hand_over()
        for name, task in list(self._tasks.items()):
            # A run that is being taken is about to be a turn, which then hands itself over.
            if name not in self._turns and name not in self._taking:
                task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=LET_GO_SECONDS)

    async def _close(self) -> None:
        self._now_and_then.cancel()
        for task in list(self._tasks.values()):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=LET_GO_SECONDS)
        await self._archiving.close()
        await self.models.aclose()
        if self._bell is not None:
            self._loop.remove_reader(self._bell.fileno())
        self._writer.end()
        self._reader.close()
