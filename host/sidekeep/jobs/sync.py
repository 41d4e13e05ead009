"""The job `sync`: unites the conversations with a Git remote, in a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import asdict
from time import monotonic
from typing import Any

from sidekeep.jobs.work import Work
from sidekeep.sessions.remote import Cancelled
from sidekeep.sessions.sync import Sync
from sidekeep.store.tx import Tx

_TELL_SECONDS = 0.5


async def synchronise(work: Work) -> dict[str, Any]:
    """`{"remote", "sessions", "sent", "received", "nodes", "uploads", "removed", "faults": {session: [text]}}`; counts
    are sessions, but for nodes and uploads. It begins anew after a death: what is done already costs nothing."""
    loop = asyncio.get_running_loop()
    stop = threading.Event()
    told = 0.0

    def read(look: Callable[[Tx], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work.read(look), loop).result()

    def write(decide: Callable[[Tx], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work.also(decide), loop).result()

    def progress(done: int, total: int, note: str) -> None:
        nonlocal told
        if monotonic() - told >= _TELL_SECONDS:
            told = monotonic()
            step = work.step(None, done=done, total=total or None, note=note)
            asyncio.run_coroutine_threadsafe(step, loop).result()

    sync = Sync(work.places, read, write, work.log, progress, stop.is_set)
    running = loop.run_in_executor(None, sync.run, str(work.params["remote"]))
    try:
        report = await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        running.exception()
        raise
    except Cancelled:
        raise asyncio.CancelledError from None
    return {**asdict(report), "faults": {name: words[:20] for name, words in list(report.faults.items())[:200]}}
