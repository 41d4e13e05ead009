"""The command line as a person or a script meets it: the installed program, its output and its exit status."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.fixtures import running_store, store

__all__ = ["running_store", "store"]


class Done:
    """What one call has printed, and how it ended."""

    def __init__(self, process: subprocess.CompletedProcess[str]) -> None:
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


@pytest.fixture
def sidekeep(tmp_path: Path) -> Callable[..., Done]:
    """Runs `sidekeep …` on the state folder of the test's store, with a home of its own."""

    def run(*words: str, state: Path | None = None, **environment: str) -> Done:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        program = Path(sys.executable).parent / "sidekeep"
        kept = {name: value for name, value in os.environ.items() if name not in ("SIDEKEEP_STATE", "XDG_DATA_HOME")}
        process = subprocess.run(
            [program, *words, "--state", str(state or tmp_path / "state")],
            env={**kept, "HOME": str(home), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Done(process)

    return run
