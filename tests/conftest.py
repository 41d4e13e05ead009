"""What every test has: a runtime folder of this run's own, no way to the user's own store, no process left behind."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None, print_blob=True)
settings.load_profile("project")

# Short: the paths of sockets below it have 104 bytes. Every process of the product inherits it, which marks it.
RUNTIME = Path(tempfile.mkdtemp(prefix="skt", dir="/tmp"))
os.environ["XDG_RUNTIME_DIR"] = str(RUNTIME)
os.environ["SIDEKEEP_STATE"] = str(RUNTIME / "nobody-named-a-state-folder")
for name in ("SIDEKEEP_LOG", "SIDEKEEP_VAULT", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"):
    os.environ.pop(name, None)

# Under nohup this signal would be ignored, and by every process that a test starts.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

LEAVING_SECONDS = 10.0


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """At the end of all tests no process of theirs lives, and none has touched the store that a user would have."""
    yield
    stray = RUNTIME / "nobody-named-a-state-folder"
    touched = stray.exists()
    end = time.monotonic() + LEAVING_SECONDS
    left = _processes_of_this_run()
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left = _processes_of_this_run()
    assert not left, f"processes were left behind: {left}"
    assert not touched, "a test has used the state folder that it did not name"


def pytest_unconfigure(config: pytest.Config) -> None:
    """In each worker, and in the process that they work for."""
    shutil.rmtree(RUNTIME, ignore_errors=True)


def _processes_of_this_run() -> dict[int, str]:
    """Other processes with our runtime folder in their environment; a zombie has none."""
    found: dict[int, str] = {}
    mark = f"XDG_RUNTIME_DIR={RUNTIME}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found
