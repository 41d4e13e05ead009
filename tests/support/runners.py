"""The runner of a store as a test sees it from outside: who it is, what it has started, whether anything is left."""

import contextlib
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
PAUSE = 0.002


def until(look: Callable[[], T | None], what: str, timeout: float = 20) -> T:
    """Looks again and again until something true is there; returns it."""
    end = time.monotonic() + timeout
    while not (found := look()):
        assert time.monotonic() < end, f"no {what} within {timeout} s"
        time.sleep(PAUSE)
    return found


def runner_command(*arguments: str) -> list[str]:
    """The installed `sidekeep-runner` of the environment that runs the tests."""
    return [str(Path(sys.executable).parent / "sidekeep-runner"), *arguments]


def lock_is_free(state: Path) -> bool:
    """Whether no runner holds its lock."""
    try:
        fd = os.open(state / ".locks" / "runner", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def runner_of(state: Path) -> int | None:
    """The pid of the living runner that has said who it is."""
    try:
        pid = int(json.loads((state / ".locks" / "runner.json").read_text())["pid"])
    except (FileNotFoundError, ValueError):
        return None
    return pid if not lock_is_free(state) and lives(pid) else None


def lives(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def kill_runner(state: Path, number: int = signal.SIGKILL) -> int:
    """Kills the runner that lives (waiting until one does) and waits for its end; its pid."""
    pid = until(lambda: runner_of(state), "runner")
    os.kill(pid, number)
    until(lambda: not lives(pid), "end of the runner")
    return pid


def processes_of(state: Path) -> list[tuple[int, str]]:
    """Every process that was started for this state folder, and those below them: pid and command line."""
    found: dict[int, str] = {}
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            pid = int(entry.name)
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            parents[pid] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            lines[pid] = line
            marks = (entry / "environ").read_bytes().split(b"\0")
            if str(state) in line.split() or f"SIDEKEEP_STATE={state}".encode() in marks:
                found[pid] = line
    below = {pid for pid in parents if any(above in found for above in _above(pid, parents))}
    return sorted((pid, lines[pid]) for pid in {*found, *below} if lives(pid))


def _above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid := parents.get(pid, 0):
        yield pid


def log_of(state: Path, name: str = "runner") -> str:
    """What a kind of process has written down."""
    try:
        return (state / "logs" / f"{name}.log").read_text("utf-8")
    except FileNotFoundError:
        return ""


def shown(snapshot: dict[str, Any]) -> list[tuple[str, str]]:
    """The conversation of a snapshot: who, and what text."""
    return [
        (node["type"].removesuffix("_message"), "".join(b.get("text", "") for b in node["payload"].get("content", [])))
        for node in snapshot["nodes"]
    ]
