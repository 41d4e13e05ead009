"""Remembers what a step was done with, so that a second run skips it; standard library only."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

SKIPPED = {"node_modules", "dist", "__pycache__", "test-results"}


def digest(paths: Iterable[Path], *more: str) -> str:
    """A SHA-256 over files and folders (names and bytes) and further words."""
    told = hashlib.sha256("\0".join(more).encode())
    for path in sorted(_files(paths)):
        told.update(os.fsencode(path) + b"\0")
        told.update(hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_file():
            yield path
        for folder, names, files in os.walk(path):
            names[:] = [name for name in names if name not in SKIPPED]
            yield from (Path(folder) / name for name in files)


class Stamp:
    """One line in a file beside what was made; gone with it."""

    def __init__(self, path: Path, value: str) -> None:
        self._path = path
        self._value = value

    def holds(self) -> bool:
        """Whether the step was done with just these inputs."""
        try:
            return self._path.read_text() == self._value
        except OSError:
            return False

    def set(self) -> None:
        self._path.write_text(self._value)
