"""Where no bell can be hung, the processes of a store look for changes by themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.hostclient import HostClient
from support.stores import text


@pytest.fixture
def long_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime folder whose path is too long for the name of a socket."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_hosts_runner_and_shell_work_without_bells(tmp_path: Path, long_runtime: Path) -> None:

    state = tmp_path / "state"
    with HostClient(state) as one, HostClient(state) as other:
        for host in (one, other):
            host.initialize()
            host.ready()
        one.ack("settings.set", patch={"models.default": {"connectionId": "extract", "modelId": "extract"}})
        thread = one.ack("thread.create", title="Shared")["threadId"]
        other.event("thread.created", timeout=2, where=lambda event: event["thread"]["id"] == thread)
        other.query("thread.subscribe", threadId=thread)
        one.ack("turn.submit", threadId=thread, input=text("What is there?"))
        assert other.event("turn.complete", threadId=thread)["stopReason"] == "end"
        command = [str(Path(sys.executable).parent / "sidekeep"), "vault", "set", "openai", "--state", str(state)]
        done = subprocess.run(command, input="a key\n", text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        one.event("store.changed", where=lambda event: event["kind"] == "secrets", timeout=2)
    assert not [name for _, _, names in os.walk(long_runtime) for name in names if name.endswith(".bell")]
