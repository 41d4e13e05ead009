"""Shows how far long work is: one line on a terminal's stderr, rewritten; nothing anywhere else."""

import sys
from time import monotonic

_EVERY_SECONDS = 0.1


class Line:
    """Called with what is being done and how far it is."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._shows = wanted and sys.stderr.isatty()
        self._due = 0.0
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = monotonic()
        if not self._shows or now < self._due:
            return
        self._due = now + _EVERY_SECONDS
        share = f" {min(100, done * 100 // total)} %" if total > 0 else ""
        self._write(f"{what}{share}")

    def clear(self) -> None:
        """Take the line away."""
        if self._shows and self._width:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)
