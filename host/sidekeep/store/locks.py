"""Locks between processes that die with their descriptor: `flock`, or `LockFileEx` on Windows.

POSIX `fcntl` locks are not used: they fall when any descriptor of the file closes in the process.
"""

import os
import sys
import time

from sidekeep.model.places import private_file

SHARED, EXCLUSIVE = 1, 2

if sys.platform == "win32":
    from sidekeep.store._winlocks import lock, unlock
else:
    import fcntl

    def lock(fd: int, mode: int, wait: bool) -> bool:
        """Take or convert the lock of `fd`; False when another holds it and `wait` is false."""
        flags = fcntl.LOCK_EX if mode == EXCLUSIVE else fcntl.LOCK_SH
        while True:
            try:
                fcntl.flock(fd, flags if wait else flags | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except InterruptedError:
                continue
            return True

    def unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


def open_lock_file(path: str) -> int:
    """Open (or make, 0600) a lock file; the descriptor is closed on exec."""
    return private_file(path)


def lock_within(fd: int, mode: int, seconds: float) -> bool:
    """Try for a lock, every 4 ms, for at most so long."""
    end = time.monotonic() + seconds
    while not lock(fd, mode, wait=False):
        if time.monotonic() >= end:
            return False
        time.sleep(0.004)
    return True


def is_held(path: str) -> bool:
    """Does a living process hold the exclusive lock of this file?"""
    try:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return False
    try:
        return not lock(fd, SHARED, wait=False)
    finally:
        os.close(fd)
