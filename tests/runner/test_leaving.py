"""When the runner goes: nobody needs it, its place is gone, or it is told to; and that no work is lost meanwhile."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from runner.conftest import Desk, told
from support.runners import lives, lock_is_free, processes_of, runner_command, runner_of, until
from support.steered import Steered
from support.stores import Store, text

EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}


def by_hand(store: Store, *arguments: str) -> "subprocess.Popen[bytes]":
    """A runner that is started from a shell, with the lock free."""
    command = runner_command("--foreground", "--state", str(store.state), *arguments)
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_it_leaves_when_no_host_lives_and_nothing_waits(running_store: Store) -> None:
    """While a host lives it stays; after the last one it is gone with all that it started (E41)."""
    with by_hand(running_store, "--idle-seconds", "0.3") as runner:
        until(lambda: runner_of(running_store.state) == runner.pid, "runner")
        host = running_store.open()
        thread = host.ack("thread.create")["threadId"]
        host.query("thread.subscribe", threadId=thread)
        host.ack("turn.submit", threadId=thread, input=text("Hello"), overrides=EXTRACT)
        host.event("turn.complete")
        with pytest.raises(subprocess.TimeoutExpired):
            runner.wait(1.0)
        host.close()
        assert runner.wait(10) == 0
        runner.communicate()
    assert lock_is_free(running_store.state)
    assert processes_of(running_store.state) == []
    assert not (running_store.state / ".locks" / "runner.json").exists()


def test_the_death_of_a_host_that_was_killed_is_noticed_too(running_store: Store) -> None:
    with by_hand(running_store, "--idle-seconds", "0.1") as runner:
        until(lambda: runner_of(running_store.state) == runner.pid, "runner")
        hosts = [running_store.open() for _ in range(3)]
        for host in hosts:
            host.kill()
        assert runner.wait(10) == 0
        runner.communicate()
    assert list((running_store.state / "hosts").iterdir()) == []


def test_it_finishes_what_waits_before_it_leaves(store: Store) -> None:
    """Work that was admitted while nobody lived is done by the next runner, also one without any host."""
    host = store.open()
    threads = [host.ack("thread.create")["threadId"] for _ in range(3)]
    runs = [host.ack("turn.submit", threadId=t, input=text("Hello"), overrides=EXTRACT)["runId"] for t in threads]
    host.kill()
    store.let_runner_go()
    with by_hand(store, "--idle-seconds", "0") as runner:
        assert runner.wait(20) == 0
        runner.communicate()
    host = store.open()
    assert [host.query("run.get", runId=run)["run"]["state"] for run in runs] == ["completed"] * 3
    assert lock_is_free(store.state)


def test_a_question_keeps_no_runner_and_a_time_does(running_store: Store, far: Steered) -> None:
    """Nobody is there to answer: the runner goes and the question waits. A time comes also without anybody."""
    with by_hand(running_store, "--idle-seconds", "0.2") as runner:
        until(lambda: runner_of(running_store.state) == runner.pid, "runner")
        desk = Desk(running_store, far)
        ack = desk.ask("Wait")
        far.call().use(("wait_until", {"seconds": 2}))
        desk.host.event("interaction.request")
        desk.host.close()
        far.call().use(("ask_user", {"question": "Which?"}))
        assert runner.wait(10) == 0
        runner.communicate()
    assert lock_is_free(running_store.state)
    desk.host = running_store.open(subscribe=desk.thread)
    (asked,) = desk.host.event("thread.snapshot")["interactions"]
    response = {"answer": "a"}
    desk.host.ack("interaction.response", interactionId=asked["interactionId"], response=response)
    call = far.call()
    assert told(call) == ["The time has come.", "The user answers: a"]
    call.end()
    assert desk.ended(ack) == "end"


def test_no_work_is_lost_to_a_runner_that_is_about_to_leave(running_store: Store) -> None:
    """Admitted at any moment of its leaving. "Look, then let go" lost 2 of 12,000; a look under the write lock none."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    state = running_store.state
    ended = 0
    for _ in range(12):
        if lock_is_free(state):
            # It sees a host and stays; told to stop it leaves in the middle of admissions.
            host.ack("turn.submit", threadId=thread, input=text("wake"), overrides=EXTRACT)
            ended += 1
        pid = until(lambda: runner_of(state), "runner")
        os.kill(pid, signal.SIGTERM)
        for _ in range(4):
            host.ack("turn.submit", threadId=thread, input=text("again"), overrides=EXTRACT)
            ended += 1
        host.until(
            lambda events, due=ended: sum(e["type"] == "turn.complete" for e in events) >= due, f"{ended} turns", 20
        )
        until(lambda pid=pid: not lives(pid), "end of the runner that was told to stop")
    assert [e["stopReason"] for e in host.seen("turn.complete")] == ["end"] * ended


def test_a_removed_state_folder_ends_it(running_store: Store) -> None:
    """There is nothing to serve any more, and a folder that takes its place may have a runner of its own."""
    with by_hand(running_store, "--idle-seconds", "0.2") as runner:
        until(lambda: runner_of(running_store.state) == runner.pid, "runner")
        host = running_store.open()
        thread = host.ack("thread.create")["threadId"]
        host.query("thread.subscribe", threadId=thread)
        host.ack("turn.submit", threadId=thread, input=text("Hello"), overrides=EXTRACT)
        host.event("turn.complete")
        running_store.state.rename(running_store.state.with_name("gone"))
        host.close()
        assert runner.wait(10) == 0
        runner.communicate()
    assert not running_store.state.exists()


def test_a_second_one_by_hand_says_that_one_lives(running_store: Store) -> None:
    with by_hand(running_store) as first:
        until(lambda: runner_of(running_store.state) == first.pid, "runner")
        with by_hand(running_store) as second:
            _, said = second.communicate(timeout=10)
            assert second.returncode == 3
        assert b"Another runner works on this store already" in said
        assert runner_of(running_store.state) == first.pid
        host = running_store.open()
        host.ack("turn.submit", threadId=host.ack("thread.create")["threadId"], input=text("Hello"), overrides=EXTRACT)
        host.event("thread.updated", where=lambda e: e["patch"].get("status") == "done")
        first.send_signal(signal.SIGTERM)
        assert first.wait(10) == 0
        first.communicate()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--nonsense"], "--nonsense"),
        (["--state"], "--state"),
        (["--idle-seconds", "soon"], "--idle-seconds"),
        (["--lock-fd", "-1"], "--lock-fd"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: list[str], word: str, tmp_path: Path) -> None:
    """Before anything is touched."""
    known = {**os.environ, "SIDEKEEP_STATE": str(tmp_path / "state")}
    done = subprocess.run(runner_command(*arguments), capture_output=True, timeout=20, check=False, env=known)
    assert not (tmp_path / "state").exists()
    assert done.returncode == 2
    assert word.encode() in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("ending", ["full", "closed"])
def test_a_reader_of_its_log_that_stops_does_not_stop_it(running_store: Store, ending: str) -> None:
    """A terminal that is held, or a pipe that nobody reads: turns go on."""
    out, into = os.pipe()
    os.set_blocking(into, False)
    try:
        while os.write(into, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(into, True)
    if ending == "closed":
        os.close(out)
    command = runner_command("--foreground", "--state", str(running_store.state))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=into, stderr=into) as runner:
        os.close(into)
        until(lambda: runner_of(running_store.state) == runner.pid, "runner")
        host = running_store.open()
        thread = host.ack("thread.create")["threadId"]
        host.query("thread.subscribe", threadId=thread)
        off = {"id": "extract", "name": "Extract", "kind": "extract", "enabled": False}
        host.ack("connection.save", connection=off)
        host.ack("turn.submit", threadId=thread, input=text("Hello"), overrides=EXTRACT)
        assert host.event("turn.complete", timeout=5)["stopReason"] == "error"
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(10) == 0
    if ending == "full":
        os.close(out)


@pytest.mark.long
def test_ninety_seconds_after_the_last_host_nothing_is_left(running_store: Store) -> None:
    """The runner that a host started, with the times of the product: 60 s without work and hosts, then it is gone."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    host.ack("turn.submit", threadId=thread, input=text("Hello"), overrides=EXTRACT)
    host.event("turn.complete")
    host.close()
    closed = time.monotonic()
    assert len(processes_of(running_store.state)) == 1
    until(lambda: not processes_of(running_store.state), "end of every process", 90)
    assert time.monotonic() - closed > 55
