"""The end of the input ends the host within a second, at any moment, and nothing is lost by it."""

import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hostclient import HostClient, fixed_origin, frame, host_command
from support.stores import Store, text

SECOND = 1.0


def ended_in_time(host: HostClient, status: int = 0) -> None:
    """Bar: gone within one second of the end of its input (the browser kills after two)."""
    host.close_input()
    assert host.wait_end(SECOND) == status


def test_before_a_word(store: Store) -> None:
    """A browser that opens a port and closes it at once."""
    ended_in_time(store.start())


def test_inside_a_frames_header_and_inside_its_body(store: Store) -> None:
    """A stream that ends inside a frame is a normal end."""
    for piece in (b"\x10", b"\x10\x00\x00", struct.pack("=I", 100) + b'{"type":'):
        host = store.start()
        host.write(piece)
        ended_in_time(host)


def test_inside_a_frame_after_the_store_is_open(store: Store) -> None:
    """The same with a store in hand; what was acknowledged is there."""
    host = store.open()
    thread = host.ack("thread.create", title="kept")["threadId"]
    host.write(struct.pack("=I", 1000) + b'{"type":"thread.delete"')
    ended_in_time(host)
    assert [row["id"] for row in store.open().query("thread.list")["threads"]] == [thread]


def test_while_the_store_is_opening(store: Store) -> None:
    """Another process holds the opening: the host waits, says so, and still leaves at once."""
    with held(store.state / ".locks" / "open"):
        host = store.start()
        assert host.initialize()["type"] == "initialized"
        submission = host.send("thread.create")
        assert host.event("host.busy", timeout=3)["what"]
        ended_in_time(host)
        assert host.events[-1]["type"] != "command.ack", submission


def test_right_behind_initialize(store: Store) -> None:
    """At every moment of a start: the imports and the opening do not hold the process."""
    for pause in (0.0, 0.01, 0.03, 0.05, 0.08, 0.12, 0.2):
        host = store.start()
        host.initialize()
        # The moment itself is what is tried: no condition stands for it.
        time.sleep(pause)
        ended_in_time(host)


def test_with_a_thousand_commands_in_flight(store: Store) -> None:
    """What was acknowledged is on disk; what was not is there whole or not at all."""
    host = store.open()
    sent = [host.send("thread.create", title=str(number)) for number in range(1_000)]
    ended_in_time(host)
    acknowledged = {event["threadId"] for event in host.events if event["type"] == "command.ack"}
    other = store.open()
    listed: set[str] = set()
    cursor = None
    while True:
        page = other.query("thread.list", limit=500, **({"cursor": cursor} if cursor else {}))
        listed |= {row["id"] for row in page["threads"]}
        cursor = page["cursor"]
        if cursor is None:
            break
    assert acknowledged <= listed
    for submission in sent[:: len(sent) // 50]:
        of = {"clientId": host.client_id, "submissionId": submission}
        receipt = other.query("receipt.get", of=of)
        if receipt["status"] == "acknowledged":
            assert receipt["response"]["threadId"] in listed


def test_while_another_process_holds_the_write_lock(store: Store) -> None:
    """A command that waits for the database does not keep the process."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    with write_lock(store.state / "sidekeep.db"):
        host.send("thread.update", threadId=thread, patch={"title": "waits"})
        host.send("thread.create")
        ended_in_time(host)


@pytest.mark.parametrize("ops", [200, 5_000])
def test_while_nobody_reads_its_output(store: Store, ops: int) -> None:
    """A browser that hangs: the host is blocked in a write, and more ops wait than it takes in."""
    with deaf_host(store) as (process, sink):
        _send(sink, "initialize", protocol="sidekeep/1", schemaHash="*", clientId="deaf")
        _send(sink, "memory.set", key="long", value="x" * 200_000)
        os.set_blocking(sink, False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(ops):
                _send(sink, "memory.list")
        if ops < 1_000:
            _until_blocked(process, sink)
        os.close(sink)
        assert process.wait(SECOND) == 0


def test_while_nobody_reads_the_answers_before_initialize(store: Store) -> None:
    """The same before the port is open, where one thread reads and writes."""
    with deaf_host(store) as (process, sink):
        os.set_blocking(sink, False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(100_000):
                _send(sink, "ping")
        os.close(sink)
        assert process.wait(SECOND) == 0


def test_when_the_browser_closes_the_output_first(store: Store) -> None:
    """B35: nobody is left to tell: frames are dropped, commands are still committed, and nothing spins."""
    with deaf_host(store) as (process, sink):
        _send(sink, "initialize", protocol="sidekeep/1", schemaHash="*", clientId="gone")
        thread = str(uuid.uuid4())
        _send(sink, "thread.create", threadId=thread)
        other = store.open()
        _until_listed(other, thread)
        os.close(process.back)
        for number in range(20):
            _send(sink, "node.append", threadId=thread, nodeType="user_message", payload=text(str(number)))
        other.query("thread.subscribe", threadId=thread)
        end = time.monotonic() + 10
        while len(other.query("thread.subscribe", threadId=thread)["nodes"]) < 20:
            assert time.monotonic() < end
        before = _cpu(process.pid)
        time.sleep(1)  # a rate can only be taken over a time
        assert _cpu(process.pid) - before <= 10  # hundredths of a second: making room in the log is among them
        os.close(sink)
        assert process.wait(SECOND) == 0


def _until_listed(host: HostClient, thread: str) -> None:
    end = time.monotonic() + 10
    while thread not in [row["id"] for row in host.query("thread.list")["threads"]]:
        assert time.monotonic() < end


def test_at_rest_a_host_uses_no_processor(store: Store) -> None:
    """B35: no busy poll while idle."""
    host = store.open()
    host.ack("thread.create")
    # After half a second of quiet the log is given its size; from then on there is nothing to do.
    log = store.state / "sidekeep.db-wal"
    end = time.monotonic() + 10
    while log.stat().st_size < 16 * 1024 * 1024:
        assert time.monotonic() < end
        time.sleep(0.02)
    host.ask("ping")
    before = _switches(host)
    time.sleep(1.5)  # a rate can only be taken over a time
    assert _switches(host) - before <= 12


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_as_well(store: Store, number: int) -> None:
    """SIGTERM at any time is safe; the next host finds everything and clears up."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    host.process.send_signal(number)
    host.wait_end(SECOND)
    second = store.open()
    assert [row["id"] for row in second.query("thread.list")["threads"]] == [thread]
    living = [path for path in (store.state / "hosts").iterdir() if path.suffix == ".json"]
    assert [json.loads(path.read_text())["pid"] for path in living] == [second.process.pid]


def test_a_host_that_leaves_takes_its_files_along(store: Store) -> None:
    """A file in `hosts/` means a living host."""
    host = store.open()
    host.ask("ping")
    assert len(list((store.state / "hosts").glob("*.json"))) == 1
    ended_in_time(host)
    assert list((store.state / "hosts").iterdir()) == []


def test_fifty_ports_opened_and_closed_leave_no_process(store: Store) -> None:
    """B34, E41: no orphans, whatever the moment of the close."""
    store.open().ack("thread.create")
    pids = []
    for number in range(50):
        host = store.start()
        pids.append(host.process.pid)
        if number % 3:
            host.initialize()
        if number % 3 == 2:
            host.ready()
        ended_in_time(host)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


# ---- what the tests need ----


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """An exclusive lock of another process, as far as the host can tell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def write_lock(database: Path) -> Iterator[None]:
    """Another process in the middle of a transaction."""
    code = (
        "import apsw, sys\n"
        f"db = apsw.Connection({str(database)!r})\n"
        "db.execute('BEGIN IMMEDIATE')\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [os.path.join(os.path.dirname(host_command()[0]), "python"), "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == b"held\n"
        yield
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


class DeafHost(subprocess.Popen[bytes]):
    """A host, and the end of its output that nobody reads."""

    back: int


@contextlib.contextmanager
def deaf_host(store: Store) -> Iterator[tuple[DeafHost, int]]:
    """A host whose output nobody reads, and the descriptor of its input (the test closes it)."""
    there, sink = os.pipe()
    back, out = os.pipe()
    process = DeafHost(
        [*host_command(), fixed_origin()],
        stdin=there,
        stdout=out,
        env={**os.environ, "SIDEKEEP_STATE": str(store.state)},
    )
    os.close(there)
    os.close(out)
    process.back = back
    try:
        yield process, sink
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            os.close(back)


def _send(sink: int, op: str, **members: object) -> None:
    """A whole frame, in blocking mode; in the other, BlockingIOError with perhaps half of it written."""
    data = memoryview(frame(json.dumps({"type": op, "submissionId": str(uuid.uuid4()), **members}).encode()))
    while data:
        data = data[os.write(sink, data) :]


def _until_blocked(process: DeafHost, sink: int) -> None:
    """Until the host has taken what was sent and waits in a write: the pipe to it is empty."""
    end = time.monotonic() + 5
    while _waiting(sink):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert process.poll() is None


def _waiting(sink: int) -> int:
    import array
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(sink, termios.FIONREAD, count)
    return count[0]


def _cpu(pid: int) -> int:
    """Hundredths of a second of processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _switches(host: HostClient) -> int:
    total = 0
    for task in Path(f"/proc/{host.process.pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                total += int(line.split()[1])
    return total
