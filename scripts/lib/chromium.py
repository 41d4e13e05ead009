"""Finds a Chromium that loads unpacked extensions from the command line, and installs one where there is none."""

import os
import shutil
from pathlib import Path

from lib import system_packages
from lib.steps import Fault, Log

NAMES = ("chromium", "chromium-browser")


def find() -> str | None:
    """The program, or None; a Snap's wrapper does not count, since it can start no host outside itself."""
    told = os.environ.get("SIDEKEEP_CHROMIUM")
    if told:
        return told
    for name in NAMES:
        path = shutil.which(name)
        if path is not None and not _is_snap(Path(path)):
            return path
    return None


def _is_snap(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4096)
    # Ubuntu's package is a script that starts the Snap.
    return "snap" in path.resolve().parts or (head[:2] == b"#!" and b"/snap/bin" in head)


def ensure(log: Log) -> str:
    """The path of a Chromium. Raises Fault where none is and none can be installed."""
    found = find()
    if found is None:
        system_packages.install(["chromium"], "No Chromium was found.", log)
        found = find()
    if found is None:
        raise Fault("No Chromium was found: name one with SIDEKEEP_CHROMIUM=/path/to/chromium.")
    return found
