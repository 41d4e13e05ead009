"""The runner's archive through a real host: commits after the acknowledgement, also of a runner that was killed."""

import os
import signal
import time
from typing import Any

from sessions.conftest import git
from support.stores import Store, text

EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}


def _commits(host: Any, thread: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = host.query("session.commits", threadId=thread)["commits"]
    return found


def _wait_for(host: Any, thread: str, count: int) -> list[dict[str, Any]]:
    end = time.monotonic() + 30
    while len(found := [row for row in _commits(host, thread) if row["turnId"]]) < count:
        assert time.monotonic() < end, "the turns were not committed"
        time.sleep(0.05)
    return found


def test_turns_are_committed_once_also_after_the_runner_was_killed(running_store: Store) -> None:
    """Each of six turns, the runner killed after some of them at whatever it was doing, has exactly one commit."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    turns = []
    for number in range(6):
        answer = host.ack("turn.submit", threadId=thread, input=text(f"question {number}"), overrides=EXTRACT)
        turns.append(answer["turnId"])
        host.event("turn.complete", turnId=answer["turnId"])
        pid = running_store.runner_pid()
        if number < 5 and pid is not None:
            os.kill(pid, signal.SIGKILL)
    found = _wait_for(host, thread, 6)
    assert [row["turnId"] for row in found] == turns[::-1]
    folder = running_store.state / "sessions" / thread
    log = git(folder, "log", "--format=%H").split()
    assert [row["id"] for row in _commits(host, thread)] == log
    end = time.monotonic() + 10
    while git(folder, "status", "--porcelain"):
        assert time.monotonic() < end, "the index was not refreshed"
        time.sleep(0.1)
    assert not list((folder / ".git").rglob("*.lock"))
