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


def own_lock_file(path: str) -> int:
    """Make a lock file and hold it exclusively, surely the one that the name leads to: whoever takes it for a dead
    process's file may remove it just before it is locked."""
    while True:
        fd = open_lock_file(path)
        lock(fd, EXCLUSIVE, wait=True)
        if leads_to(path, fd):
            return fd
        os.close(fd)


def remove_if_dead(path: str, *beside: str) -> bool:
    """Remove a lock file that nobody holds, and files `beside` it; whether that was done."""
    try:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        fd = -1
    try:
        if fd >= 0 and not (lock(fd, EXCLUSIVE, wait=False) and leads_to(path, fd)):
            return False
        if sys.platform == "win32" and fd >= 0:
            os.close(fd)  # there nobody can remove a file that another has open
            fd = -1
        # Removed under the lock: who waits for it sees that its name leads elsewhere.
        for name in (*beside, path):
            _remove(name)
    finally:
        if fd >= 0:
            os.close(fd)
    return True


def leads_to(path: str, fd: int) -> bool:
    """Is the file behind this descriptor the one that the name leads to now?"""
    try:
        named, held = os.stat(path), os.fstat(fd)
    except FileNotFoundError:
        return False
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


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
