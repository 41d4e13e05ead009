"""The runner's archive of conversations in Git: after the acknowledgement, in a thread of its own, from what is stored.

A turn that ended is committed at once, other changes 30 s after the last of them. What a death prevents is found by
the next runner: it looks at all threads once, and from then on at those that changed.
"""

import asyncio
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any

from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.sessions import purges
from sidekeep.sessions.archive import Archive
from sidekeep.store import session_repos
from sidekeep.store.tx import Tx

QUIET_SECONDS = 30.0
INDEX_SECONDS = 2.0
REGISTRY_SECONDS = 5.0

Write = Callable[[Callable[[Tx], Any], Callable[[Tx], Any]], Coroutine[Any, Any, Any]]


class Archiving:
    """Decides when which session is committed. `read` reads in the calling thread, `wake` may be called from any."""

    def __init__(
        self,
        places: Places,
        read: Callable[[Callable[[Tx], Any]], Any],
        write: Write,
        wake: Callable[[], None],
        log: Callable[[str], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="archive")
        self._read = read
        self._write_async = write
        self._wake = wake
        self._log = log
        self._archive = Archive(places, read, self._write, log)
        self._pass: asyncio.Future[None] | None = None
        self._again = False
        self._timer: asyncio.TimerHandle | None = None
        self._working = False
        self._change: int | None = None
        self._quiet: dict[str, float] = {}
        self._indexes: dict[str, float] = {}
        self._registry: float | None = None
        self._ending = False

    def look(self) -> None:
        """Something may have changed, or something is due: a pass begins, after the one that is under way."""
        if self._ending:
            return
        if self._pass is not None:
            self._again = True
            return
        self._again = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._pass = self._loop.run_in_executor(self._pool, self._work)
        self._pass.add_done_callback(self._passed)

    def _passed(self, done: "asyncio.Future[None]") -> None:
        self._pass = None
        did, self._working = self._working, False
        if not done.cancelled() and (error := done.exception()) is not None:
            self._log("".join(traceback.format_exception(error)))
        if self._ending:
            return
        if self._again:
            self.look()
            return
        times = [*self._quiet.values(), *self._indexes.values()]
        if self._registry is not None:
            times.append(self._registry)
        if times:
            self._timer = self._loop.call_later(max(0.0, min(times) - monotonic()), self.look)
        # Who waits to leave looks again; a pass that found nothing wakes nobody, or there would be no rest.
        if did and not self.busy:
            self._wake()

    @property
    def busy(self) -> bool:
        """Whether a runner that leaves now would leave something half shown: a commit, an index, the registry."""
        return self._working or bool(self._indexes) or self._registry is not None

    async def stage(self, thread_id: str, run_id: str) -> None:
        """Copy the uploads of a turn into its session before it runs; a disk that refuses does not stop the turn.

        No turn waits for the archive's thread, only for the session's lock, which is held for one commit at most.
        """
        look = partial(session_repos.uploads_of_run, run_id=run_id)
        try:
            uploads = await self._loop.run_in_executor(None, self._read, look)
            if uploads:
                await self._loop.run_in_executor(None, self._archive.stage, thread_id, uploads)
        except (OSError, SidekeepError) as error:
            self._log(f"uploads of thread {thread_id} are copied with their turn's commit: {error}")

    async def close(self) -> None:
        """Ends after the session in hand; the next runner does what is left."""
        self._ending = True
        if self._timer is not None:
            self._timer.cancel()
        if self._pass is not None:
            await asyncio.wait([self._pass])
        self._pool.shutdown(wait=True)

    # --- in the archive's thread ---

    def _write(self, decide: Callable[[Tx], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(self._write_async(decide, lambda _tx: None), self._loop).result()

    def _work(self) -> None:
        try:
            for session_id in self._found():
                self._commit(session_id)
            self._commit_quiet()
            self._refresh()
            self._working = self._working or self._registry is not None
            left = self._archive.write_index(at_most_every=REGISTRY_SECONDS)
            self._registry = None if left is None else monotonic() + left
        except (OSError, SidekeepError) as error:
            self._log(f"the archive waits: {error}")
            self._registry = monotonic() + REGISTRY_SECONDS

    def _found(self) -> list[str]:
        """Sessions with a turn to commit; the others that changed are noted."""
        if self._change is None:
            changed, newest = self._read(lambda tx: (session_repos.all_due(tx), session_repos.newest_change(tx)))
            self._indexes = dict.fromkeys(self._read(session_repos.stale_indexes), monotonic())
            purges.resume(self._archive.layout)
        else:
            changed, newest = self._read(partial(session_repos.changed_since, change=self._change))
        self._change = newest
        if not changed:
            return []
        self._working = True
        self._archive.purge()
        now = monotonic()
        for session_id in changed:
            self._quiet[session_id] = now + QUIET_SECONDS
        found: list[str] = self._read(partial(session_repos.with_turns, thread_ids=changed))
        return found

    def _commit_quiet(self) -> None:
        now = monotonic()
        for session_id in [name for name, due in self._quiet.items() if due <= now]:
            if self._ending:
                return
            if self._read(partial(session_repos.runs_now, thread_id=session_id)):
                self._quiet[session_id] = now + QUIET_SECONDS
                continue
            self._working = True
            del self._quiet[session_id]
            self._commit(session_id, rest=True)

    def _commit(self, session_id: str, *, rest: bool = False) -> None:
        if self._ending:
            return
        try:
            step = self._archive.commit(session_id, rest=rest)
        except (OSError, SidekeepError) as error:
            self._log(f"session {session_id} was not committed: {error}")
            self._quiet[session_id] = monotonic() + QUIET_SECONDS
            return
        if step is not None and step.commits:
            self._indexes[session_id] = monotonic() + INDEX_SECONDS

    def _refresh(self) -> None:
        now = monotonic()
        for session_id in [name for name, due in self._indexes.items() if due <= now]:
            if self._ending:
                return
            self._working = True
            del self._indexes[session_id]
            self._archive.tidy(session_id)
            self._archive.refresh_index(session_id)
