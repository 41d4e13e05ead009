"""The file of further extensions, `<state>/origins`, as the installer edits it: an origin a line, the rest kept."""

from collections.abc import Iterable
from pathlib import Path

from sidekeep.install import files, manifest
from sidekeep.model.errors import InvalidCommand


def read(path: Path) -> list[str]:
    """The extension ids in the file, in its order; lines that are no origin are skipped, as the host skips them."""
    found: list[str] = []
    for line in _lines(path):
        extension_id = _id(line)
        if extension_id is not None and extension_id not in found:
            found.append(extension_id)
    return found


def changed(path: Path, added: Iterable[str], removed: Iterable[str]) -> bytes:
    """The file's bytes with these ids added at its end and those lines taken out; all else stays as it is."""
    gone = set(removed)
    lines = [line for line in _lines(path) if _id(line) not in gone or _id(line) is None]
    lines += [manifest.origin(extension_id) for extension_id in added]
    return "".join(line + "\n" for line in lines).encode()


def _lines(path: Path) -> list[str]:
    return (files.read(path) or b"").decode(errors="replace").splitlines()


def _id(line: str) -> str | None:
    try:
        return manifest.checked_id(line.strip())
    except InvalidCommand:
        return None
