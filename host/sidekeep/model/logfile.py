"""A process's log: a 0600 file of lines, put aside once when it has grown; no logging module."""

import os
import time
from _thread import allocate_lock

from sidekeep.model.places import private_file

LIMIT = 1024 * 1024
_PIECE = 512  # what a pipe takes whole when it says that it takes anything (POSIX: PIPE_BUF)


class LogFile:
    """Appends lines to `path`; above the limit the file becomes `path.1` and a new one begins.

    Never raises, and never waits: a log that cannot be written must not end or stop what it is about. `echo` also
    sees each line, while whoever reads it goes on reading.
    """

    def __init__(self, path: str, limit: int = LIMIT, echo: int | None = None) -> None:
        self._path = path
        self._limit = limit
        self._echo = echo
        self._lock = allocate_lock()

    def __call__(self, text: str) -> None:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{when} {os.getpid()} {text.rstrip()}\n".encode("utf-8", "backslashreplace")
        with self._lock:
            self._keep(line)
            try:
                self._tell(line)
            except OSError:
                self._echo = None

    def _keep(self, line: bytes) -> None:
        try:
            self._append(line)
        except OSError:
            return

    def _tell(self, line: bytes) -> None:
        if self._echo is None:
            return
        from select import select  # seldom needed, and not before the first answer

        for start in range(0, len(line), _PIECE):
            if not select((), (self._echo,), (), 0)[1]:
                return
            os.write(self._echo, line[start : start + _PIECE])

    def _append(self, line: bytes) -> None:
        # Opened for each line: another process may have put the file aside meanwhile.
        descriptor = private_file(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            grown = os.fstat(descriptor).st_size + len(line) > self._limit
            if grown:
                os.replace(self._path, self._path + ".1")
                os.close(descriptor)
                descriptor = private_file(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
