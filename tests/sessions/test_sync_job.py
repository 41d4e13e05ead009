"""Synchronisation as a panel and a shell start it: `sync.start`, `sync.status`, `sidekeep sync`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.fixtures import running_store, store
from support.hostclient import HostClient
from support.stores import Store, temporary_store, text

__all__ = ["running_store", "store"]


@pytest.fixture
def remote(tmp_path: Path) -> str:
    """A bare repository in a folder."""
    path = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    return str(path)


def _said(host: HostClient, words: str) -> str:
    thread = str(host.ack("thread.create", title=words)["threadId"])
    host.ack("node.append", threadId=thread, nodeType="user_message", payload=text(words))
    return thread


def _synced(host: HostClient, **members: Any) -> dict[str, Any]:
    job = host.ack("sync.start", **members)["jobId"]
    done = host.event("job.done", jobId=job, timeout=30)
    assert "code" not in done, done
    return dict(done["data"])


def test_a_panel_synchronises_and_another_machine_sees_it(running_store: Store, remote: str, tmp_path: Path) -> None:
    """The job's report counts; the status names remote and time; the other panel gets the conversation as an event."""
    host = running_store.open()
    assert host.query("sync.status") == {"remote": None}
    assert host.refused("sync.start")["code"] == "invalid_command"
    assert host.refused("sync.start", remote="ext::sh -c id")["code"] == "invalid_command"
    thread = _said(host, "Tide pools")
    assert _synced(host, remote=remote)["sent"] == 1
    status = host.query("sync.status")
    assert (status["remote"], status["ahead"]) == (remote, 0)
    assert host.event("store.changed", id="sync")["kind"] == "sync"
    with temporary_store(tmp_path / "other", runner=True) as second:
        other = second.open()
        report = _synced(other, remote=remote)
        assert (report["received"], report["nodes"], report["faults"]) == (1, 1, {})
        assert other.event("thread.created")["thread"]["title"] == "Tide pools"
        (node,) = other.query("thread.subscribe", threadId=thread)["nodes"]
        assert node["payload"] == text("Tide pools")
        other.ack("node.append", threadId=thread, nodeType="user_message", payload=text("from there"))
        assert other.query("sync.status")["ahead"] == 1
        _synced(other)
    host.query("thread.subscribe", threadId=thread)
    _synced(host)
    assert host.event("thread.node")["node"]["payload"] == text("from there")
    failed = host.ack("sync.start", remote=str(tmp_path / "nowhere"))["jobId"]
    assert host.event("job.done", jobId=failed, timeout=30)["code"] == "not_found"


def test_the_shell_synchronises(store: Store, remote: str) -> None:
    """`--json` is the report; without a remote the last one is used; what refuses is said in a sentence."""
    program = Path(sys.executable).with_name("sidekeep")

    def sidekeep(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [program, "sync", *words, "--state", store.state], capture_output=True, text=True, timeout=60
        )

    thread = _said(store.open(), "Tide pools")
    assert sidekeep().returncode == 2
    done = sidekeep(remote)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 conversations: 1 sent, 0 received (0 messages, 0 files), 0 removed.\n"
    again = sidekeep("--json")
    assert '"sent": 0' in again.stdout
    heads = subprocess.run(["git", "-C", remote, "branch", "--list"], capture_output=True, text=True, check=True).stdout
    assert heads.split() == [f"sessions/{thread}"]
    refused = sidekeep(f"{remote}x")
    assert refused.returncode == 1
    assert refused.stderr.startswith("There is no Git repository at the remote")
    assert sidekeep("--", "--upload-pack=id").returncode == 2
