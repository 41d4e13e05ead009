"""One runner for one store: who starts it, how often, and which version of the program it is."""

import json
import shutil
import sys
import threading
from pathlib import Path

import sidekeep
from sidekeep.cli.processes import runner
from sidekeep.model.places import Places
from support.runners import kill_runner, lives, lock_is_free, log_of, processes_of, runner_of, until
from support.stores import Store, text

EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}


def test_five_hosts_that_start_at_once_have_one_runner(store: Store) -> None:
    """Work waits when they come, and each brings more: one runner does it all."""
    first = store.open()
    waiting = first.ack("thread.create")["threadId"]
    runs = [first.ack("turn.submit", threadId=waiting, input=text("0"), overrides=EXTRACT)["runId"]]
    first.kill()
    store.let_runner_go()

    hosts = [store.start() for _ in range(5)]
    together = threading.Barrier(5)

    def begin(number: int) -> None:
        host = hosts[number]
        host.initialize()
        host.ready()
        together.wait()
        thread = host.ack("thread.create")["threadId"]
        runs.append(host.ack("turn.submit", threadId=thread, input=text(str(number)), overrides=EXTRACT)["runId"])

    beginnings = [threading.Thread(target=begin, args=(number,)) for number in range(5)]
    for beginning in beginnings:
        beginning.start()
    for beginning in beginnings:
        beginning.join(30)
    assert len(runs) == 6

    def all_done() -> bool:
        return all(hosts[0].query("run.get", runId=run)["run"]["state"] == "completed" for run in runs)

    until(all_done, "end of six turns")
    assert log_of(store.state).count(" begins") == 1
    assert log_of(store.state, "host").count("started runner") == 1
    runners = [line for _, line in processes_of(store.state) if "sidekeep.runner.main" in line]
    assert len(runners) == 1


def test_a_runner_that_dies_is_replaced_and_leaves_no_zombie(running_store: Store) -> None:
    """One that had committed is replaced at once, however often; whoever looks for the dead one finds nothing."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    pids = []
    for number in range(8):
        host.ack("turn.submit", threadId=thread, input=text(str(number)), overrides=EXTRACT)
        host.event("turn.complete", timeout=5)
        pids.append(kill_runner(running_store.state))
    assert len(set(pids)) == 8
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "end of the last zombie")


def test_what_a_dead_runner_said_of_itself_is_not_said_of_the_next(running_store: Store) -> None:
    """While the next one starts, `status` names none rather than a dead one."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    host.ack("turn.submit", threadId=thread, input=text("1"), overrides=EXTRACT)
    host.event("turn.complete")
    dead = kill_runner(running_store.state)
    # Its first thread is gone; what the others still hold goes with the last of them.
    until(lambda: lock_is_free(running_store.state), "end of the dead one's lock")
    told = running_store.state / ".locks" / "runner.json"
    assert json.loads(told.read_text())["pid"] == dead
    host.ack("turn.submit", threadId=thread, input=text("2"), overrides=EXTRACT)

    def named() -> bool:
        found = runner(Places(str(running_store.state)))
        assert found is None or found["pid"] != dead
        return found is not None

    until(named, "the next runner's own file")
    host.event("turn.complete")


def test_a_runner_that_cannot_start_is_started_five_times_a_minute_at_most(running_store: Store) -> None:
    """Nothing spins; commands are acknowledged meanwhile, and when the cause is gone all is done."""
    state = running_store.state
    obstacle = state / ".locks" / "runner.json" / "in the way"
    obstacle.mkdir(parents=True)
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    host.ack("turn.submit", threadId=thread, input=text("1"), overrides=EXTRACT)
    until(lambda: "the next start is in" in log_of(state, "host"), "end of the tries", 30)
    for number in range(4):
        host.ack("turn.enqueue", threadId=thread, input=text(str(number)), overrides=EXTRACT)
    assert log_of(state, "host").count("started runner") == 5
    assert lock_is_free(state)
    # A second host does not begin to count anew.
    other = running_store.open()
    other.ack("turn.enqueue", threadId=thread, input=text("5"), overrides=EXTRACT)
    until(lambda: log_of(state, "host").count("the next start is in") >= 2, "second host's look")
    assert log_of(state, "host").count("started runner") == 5
    assert host.query("thread.subscribe", threadId=thread)["thread"]["status"] == "running"

    shutil.rmtree(obstacle.parent)
    (state / ".locks" / "runner.starts").unlink()  # the minute is over
    other.ack("turn.enqueue", threadId=thread, input=text("6"), overrides=EXTRACT)
    host.until(lambda events: sum(e["type"] == "turn.complete" for e in events) == 7, "seven turns", 30)
    assert not (state / ".locks" / "runner.starts").exists()
    until(lambda: runner_of(state), "runner that said who it is")


def test_a_newer_version_takes_over_and_never_the_other_way(running_store: Store, tmp_path: Path) -> None:
    """The older runner ends its turn and goes; the newer host starts the next, also when an older one asks first."""
    state = running_store.state
    package = Path(sidekeep.__file__).parent
    newer = tmp_path / "newer"
    shutil.copytree(package, newer / "sidekeep", ignore=shutil.ignore_patterns("__pycache__"))
    (newer / "sidekeep" / "__init__.py").write_text('"""A newer one."""\n\n__version__ = "99.0.0"\n')
    code = f"import sys; sys.path.insert(0, {str(newer)!r}); from sidekeep.host.main import main; sys.exit(main())"

    old = running_store.open()
    thread = old.ack("thread.create")["threadId"]
    old.query("thread.subscribe", threadId=thread)
    old.ack("turn.submit", threadId=thread, input=text("old"), overrides=EXTRACT)
    old.event("turn.complete")
    before = until(lambda: runner_of(state), "runner")
    assert _version(state) == sidekeep.__version__

    new = running_store.start(command=[sys.executable, "-c", code])
    assert new.initialize()["host"]["version"] == "99.0.0"
    new.ready()
    new.ack("turn.submit", threadId=thread, input=text("new"), overrides=EXTRACT)
    old.event("turn.complete")
    until(lambda: not lives(before), "end of the older runner")
    for host in (old, new, old):
        host.ack("turn.submit", threadId=thread, input=text("again"), overrides=EXTRACT)
        assert old.event("turn.complete")["stopReason"] == "end"
    assert until(lambda: _version(state), "runner's file") == "99.0.0"
    stays = runner_of(state)
    old.ack("turn.submit", threadId=thread, input=text("still"), overrides=EXTRACT)
    old.event("turn.complete")
    assert runner_of(state) == stays

    # With the newer host gone its runner stays until nobody needs it; then the older host may start its own.
    new.close()
    kill_runner(state)
    old.ack("turn.submit", threadId=thread, input=text("back"), overrides=EXTRACT)
    old.event("turn.complete")
    assert _version(state) == sidekeep.__version__


def _version(state: Path) -> str:
    try:
        return str(json.loads((state / ".locks" / "runner.json").read_text())["version"])
    except (FileNotFoundError, ValueError):
        return ""
