"""A log file of lines: 0600, rotated once at 1 MiB, to stderr too with SIDEKEEP_LOG=debug."""

import os
from time import strftime

from sidekeep.model.places import Places, private_file

_LARGEST = 1024 * 1024


class Log:
    """Called with one line; never raises, since whoever logs has something better to do than fail."""

    def __init__(self, places: Places, name: str) -> None:
        self._path = os.path.join(places.logs, f"{name}.log")
        self._name = f"{name}[{os.getpid()}]"
        self._to_stderr = os.environ.get("SIDEKEEP_LOG") == "debug"

    def __call__(self, line: str) -> None:
        text = f"{strftime('%Y-%m-%dT%H:%M:%S')} {self._name} {line.rstrip()}\n".encode("utf-8", "replace")
        if self._to_stderr:
            os.write(2, text)
        try:
            self._rotate()
            fd = private_file(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                os.write(fd, text)
            finally:
                os.close(fd)
        except OSError:
            return

    def _rotate(self) -> None:
        try:
            if os.stat(self._path).st_size > _LARGEST:
                os.replace(self._path, self._path + ".1")
        except FileNotFoundError:
            return
