"""A disk that refuses writes while a model speaks: nothing that was said is lost, and the user is told."""

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from runner.conftest import Talk
from sidekeep.model.places import Places
from sidekeep.store import room
from support.runners import runner_command, runner_of, shown, until
from support.steered import Steered
from support.stores import Store

PIECE = "word " * 400


def test_a_live_file_that_cannot_be_written_is_written_later(talk: Talk, far: Steered) -> None:
    """The stream goes on in memory, the panel hears of the disk, and gets the rest when there is room again (E50)."""
    talk.submit("Before")
    far.call().end()
    talk.host.event("turn.complete")
    live = talk.store.state / "live"
    live.rename(live.with_name("moved"))
    live.write_bytes(b"")  # what is no folder takes no file
    ack = talk.submit("Tell")
    call = far.call()
    for number in range(20):
        call.say(f"{number} ")
    told = talk.host.event("storage.warning", timeout=5)
    assert told["pct"] == 100
    assert told["code"] == "storage_full"
    assert 0 < told["usedBytes"] <= told["limitBytes"]
    assert "free some space" in told["message"]
    assert talk.host.seen("item.delta") == []
    live.unlink()
    live.with_name("moved").rename(live)

    def heard() -> str:
        return "".join(event["delta"]["text"] for event in talk.host.seen("item.delta"))

    until(lambda: heard().endswith("19 "), "all that was said")
    call.say("end")
    call.end()
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    whole = "".join(f"{number} " for number in range(20)) + "end"
    assert heard() == whole
    assert shown(talk.snapshot())[-2:] == [("user", "Tell"), ("assistant", whole)]
    assert len(talk.host.seen("storage.warning")) == 1


def test_an_answer_waits_in_memory_for_a_full_store(running_store: Store, far: Steered) -> None:
    """Neither live file nor store nor log takes a byte: when they do, the answer is written, whole and once."""
    command = runner_command("--foreground", "--state", str(running_store.state))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as runner:
        until(lambda: runner_of(running_store.state) == runner.pid, "runner")
        talk = Talk(running_store, far)
        ack = talk.submit("Tell")
        call = far.call()
        call.say(PIECE)
        talk.host.event("item.delta", turnId=ack["turnId"])
        before, hard = resource.prlimit(runner.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(runner.pid, resource.RLIMIT_FSIZE, (1, hard))
        call.say(PIECE)
        call.end()
        assert runner.stderr is not None
        said = [
            next(line for line in runner.stderr if words in line) for words in (b"live file", b"waits to be written")
        ]
        assert all(str(runner.pid).encode() in line for line in said)
        assert talk.snapshot()["activeTurn"]["state"] == "streaming_model"
        # The port is another process: it goes on answering and acknowledging.
        queued = talk.submit("Next")
        resource.prlimit(runner.pid, resource.RLIMIT_FSIZE, (before, hard))
        assert talk.host.event("turn.complete", runId=ack["runId"], timeout=15)["stopReason"] == "end"
        call = far.call()
        assert call.said[1] == ("assistant", PIECE * 2)
        call.say("Here")
        call.end()
        talk.host.event("turn.complete", runId=queued["runId"])
        told = shown(talk.snapshot())
        assert told == [("user", "Tell"), ("assistant", PIECE * 2), ("user", "Next"), ("assistant", "Here")]
        assert runner_of(running_store.state) == runner.pid
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(10) == 0


def test_a_disk_that_runs_full_is_told_once_by_the_port_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """When not even a row can be written of it; again after there was room in between."""
    left = [10_000_000]
    now = [100.0]
    blocks = (4096, 4096, 25_000, 5_000)
    monkeypatch.setattr(os, "statvfs", lambda _path: os.statvfs_result((*blocks, left[0] // 4096, 0, 0, 0, 0, 255)))
    monkeypatch.setattr(room, "monotonic", lambda: now[0])
    watch = room.DiskWatch(Places(str(tmp_path)))

    def later() -> object:
        now[0] += 1.0
        return watch.look()

    assert later() is None
    left[0] = 900_000
    assert watch.look() is None, "it looks once a second"
    told = later()
    assert told == {
        "type": "storage.warning", "usedBytes": 20_000 * 4096, "limitBytes": 25_000 * 4096, "pct": 100,
        "code": "storage_full", "message": told["message"],
    }  # fmt: skip
    assert later() is None
    left[0] = 10_000_000
    assert later() is None
    left[0] = 0
    assert later() is not None
