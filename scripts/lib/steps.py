"""Runs the steps of a script: a line for people each, everything else into a log, one sentence on failure."""

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from lib.checkout import LOGS, ROOT, clean_environment


class Fault(Exception):
    """What went wrong, as a sentence for whoever runs the script."""


class Log:
    """The file that takes what a person does not need to see unless something fails."""

    def __init__(self, name: str) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        self.path = LOGS / f"{name}.log"
        self._file: IO[bytes] = self.path.open("wb", buffering=0)

    def write(self, text: str) -> None:
        self._file.write(f"{time.strftime('%H:%M:%S')} {text}\n".encode(errors="replace"))

    def run(
        self, words: Sequence[str | Path], failing: str, *, cwd: Path = ROOT, env: Mapping[str, str] | None = None
    ) -> None:
        """Runs a program with its output in the log.

        Raises Fault with the sentence `failing` when it does not end well.
        """
        self.write("$ " + " ".join(str(word) for word in words))
        try:
            done = subprocess.run(
                [str(word) for word in words],
                cwd=cwd,
                env={**clean_environment(), **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=self._file,
                stderr=subprocess.STDOUT,
            )
        except FileNotFoundError:
            raise Fault(f"{failing} ({words[0]} is not installed.)") from None
        if done.returncode:
            self.write(f"ended with status {done.returncode}")
            raise Fault(failing)


def say(text: str) -> None:
    """A line for people, at once even through a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fail(fault: Fault | str, log: Log) -> int:
    """Says what went wrong and where the details are; the status to end with."""
    sys.stdout.flush()
    sys.stderr.write(f"{fault} Details: {log.path}\n")
    return 1
