"""The bell: an empty datagram to every process of this store, so that nobody has to poll.

It carries nothing; who hears it reads the store. Where there are no Unix datagrams, processes poll.
"""

import os
import sys
from _thread import allocate_lock
from collections.abc import Callable

from sidekeep.model.places import Places

if sys.platform == "win32":
    HAS_BELL = False
else:
    import _socket

    HAS_BELL = hasattr(_socket, "AF_UNIX")


class Bell:
    """Rings at the others, and listens under a name of its own in the runtime folder."""

    def __init__(self, places: Places, name: str) -> None:
        self._folder = places.make_runtime()
        self._own = os.path.join(self._folder, f"{name[:16]}-{os.getpid()}.bell")
        self._names: list[str] = []
        self._listed = -1
        self._lock = allocate_lock()
        self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
        self.socket.setblocking(True)
        try:
            self.socket.bind(self._own)
        except OSError:
            self.socket.close()
            raise
        os.chmod(self._own, 0o600)
        self._out = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
        self._out.setblocking(False)

    def fileno(self) -> int:
        return self.socket.fileno()

    def wait(self) -> None:
        """Block until somebody rings, and take what rang meanwhile."""
        self.socket.recv(16)
        self.drain()

    def drain(self) -> None:
        """Take all rings that wait."""
        while True:
            try:
                self.socket.recv(16, _socket.MSG_DONTWAIT)
            except BlockingIOError:
                return

    def ring(self) -> None:
        """Ring at every other process. A dead one's socket is removed; a full one has rung already."""
        with self._lock:
            try:
                changed = os.stat(self._folder).st_mtime_ns
            except FileNotFoundError:
                return  # somebody cleaned up: there is nobody who could hear
            if changed != self._listed:
                self._names = [name for name in os.listdir(self._folder) if name.endswith(".bell")]
                self._listed = changed
            names = self._names
        for name in names:
            path = os.path.join(self._folder, name)
            if path == self._own:
                continue
            try:
                self._out.sendto(b"", path)
            except (BlockingIOError, FileNotFoundError):
                continue
            except ConnectionRefusedError:
                _remove(path)
            except OSError:
                continue

    def close(self) -> None:
        """No longer listen; ringing goes on until the process ends."""
        _remove(self._own)

    def end(self) -> None:
        """Neither listen nor ring."""
        self.close()
        self.socket.close()
        self._out.close()


def open_bell(places: Places, name: str, log: Callable[[str], None] = lambda _line: None) -> Bell | None:
    """A bell, or None where there are none or no socket can be made (a folder whose path is too long for one, say):
    then its process polls."""
    if not HAS_BELL:
        return None
    try:
        return Bell(places, name)
    except OSError as error:
        log(f"no bell ({error}); changes of other processes are heard by polling")
        return None


def announce(places: Places) -> None:
    """Ring once, for a process that does not listen; where there are no bells, the others poll."""
    bell = open_bell(places, "cli")
    if bell is not None:
        try:
            bell.ring()
        finally:
            bell.end()


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
