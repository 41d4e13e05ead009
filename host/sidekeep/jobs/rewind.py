"""The jobs `session.rewind` and `session.undoRewind`: done in a thread of their own, step by step."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from sidekeep.jobs.work import Work
from sidekeep.model.places import Places
from sidekeep.sessions import rewind as rewinding
from sidekeep.store.tx import Tx


class _InThread:
    """The work of a job for a thread beside the loop."""

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop
        self.id: str = work.id
        self.params: dict[str, Any] = work.params
        self.position: Any = work.position
        self.places: Places = work.places

    def read(self, look: Callable[[Tx], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(self._work.read(look), self._loop).result()

    def step(self, position: object, **about: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(self._work.step(position, **about), self._loop).result()


async def rewind(work: Work) -> dict[str, Any]:
    """See `sidekeep.sessions.rewind`."""
    return await _in_thread(rewinding.rewind, work)


async def undo_rewind(work: Work) -> dict[str, Any]:
    """See `sidekeep.sessions.rewind`."""
    return await _in_thread(rewinding.undo_rewind, work)


async def _in_thread(do: Callable[[Any], dict[str, Any]], work: Work) -> dict[str, Any]:
    """To its end also when it is cancelled: half of the files put back would be worse than all."""
    loop = asyncio.get_running_loop()
    running = loop.run_in_executor(None, partial(do, _InThread(work, loop)))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        running.exception()
        raise
