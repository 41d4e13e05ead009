"""One lock a session, between processes: one session's slow disk never delays another."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sidekeep.model.errors import StoreBusy
from sidekeep.sessions.layout import Layout
from sidekeep.store import locks

PATIENCE_SECONDS = 30.0


@contextmanager
def session(layout: Layout, session_id: str, *, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold a session's repository. Raises StoreBusy when another process does not let it go."""
    with _held(os.path.join(layout.session_locks, session_id), patience):
        yield


@contextmanager
def registry(layout: Layout) -> Iterator[None]:
    """Hold `index.json` and `locations.json`, for as long as they are read and replaced."""
    with _held(os.path.join(layout.locks, "registry"), PATIENCE_SECONDS):
        yield


@contextmanager
def synchronising(layout: Layout) -> Iterator[None]:
    """One synchronisation at a time. Raises StoreBusy beside another one."""
    fd = locks.open_lock_file(os.path.join(layout.locks, "sync"))
    try:
        if not locks.lock_within(fd, locks.EXCLUSIVE, 0.0):
            raise StoreBusy("Another synchronisation is under way; wait for its end.")
        yield
    finally:
        os.close(fd)


@contextmanager
def _held(path: str, patience: float) -> Iterator[None]:
    fd = locks.open_lock_file(path)
    try:
        if not locks.lock_within(fd, locks.EXCLUSIVE, patience):
            raise StoreBusy("Another process works on this conversation's repository; try again.")
        yield
    finally:
        os.close(fd)
