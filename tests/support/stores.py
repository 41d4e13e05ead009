"""State folders for black-box tests: hosts on one store, its runner held back or ended, nothing left behind."""

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.hostclient import HostClient


class Store:
    """One state folder and the hosts that a test starts on it."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.hosts: list[HostClient] = []
        self._held = -1

    def start(self, **options: Any) -> HostClient:
        """A host that has been sent nothing yet."""
        host = HostClient(self.state, **options)
        self.hosts.append(host)
        return host

    def open(self, *, subscribe: str | None = None, **options: Any) -> HostClient:
        """A host that has opened the store."""
        host = self.start(**options)
        answer = host.initialize(subscribe=subscribe)
        assert answer["type"] == "initialized", answer
        host.ready()
        return host

    def hold_runner(self) -> None:
        """Takes the runner's lock, as a runner that never gets to its work: what is admitted stays queued."""
        locks = self.state / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        self._held = os.open(locks / "runner", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)

    def let_runner_go(self) -> None:
        """From now on a runner may live."""
        os.close(self._held)
        self._held = -1

    def runner_pid(self) -> int | None:
        """Who holds the runner's lock, by its own file."""
        try:
            return int(json.loads((self.state / ".locks" / "runner.json").read_text())["pid"])
        except (FileNotFoundError, ValueError):
            return None

    def wait_until_no_runner(self, seconds: float = 10) -> None:
        """Until nobody holds the runner's lock."""
        descriptor = os.open(self.state / ".locks" / "runner", os.O_RDWR | os.O_CLOEXEC)
        end = time.monotonic() + seconds
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    assert time.monotonic() < end, "the runner does not end"
                time.sleep(0.01)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Ends every host (each must leave nothing but whole frames), then the runner."""
        try:
            for host in self.hosts:
                host.close()
        finally:
            for host in self.hosts:
                if host.process.poll() is None:
                    host.process.kill()
                    host.process.wait()
            if self._held >= 0:
                self.let_runner_go()
            self._end_runner()

    def _end_runner(self) -> None:
        path = self.state / ".locks" / "runner"
        if not path.exists():
            return
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            end = time.monotonic() + 10
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    assert time.monotonic() < end, "the runner does not end"
                pid = self.runner_pid()
                if pid is not None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.01)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def temporary_store(state: Path, *, runner: bool = False) -> Iterator[Store]:
    """A store whose runner is held back unless the test wants one."""
    store = Store(state)
    if not runner:
        store.hold_runner()
    try:
        yield store
    finally:
        store.close()


def text(words: str) -> dict[str, Any]:
    """What a user says, as `UserInput` and as the payload of a `user_message`."""
    return {"content": [{"type": "text", "text": words}]}


def said(words: str) -> dict[str, Any]:
    """The payload of an `assistant_message`."""
    return {**text(words), "model": "m", "connectionId": "c"}
