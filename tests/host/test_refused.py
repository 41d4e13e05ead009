"""A store that is not to be had at once, not at all, or that breaks: each op has its answer, and nothing is touched."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidekeep.model.errors import StoreBusy
from sidekeep.model.places import Places, private_folder
from sidekeep.store.opener import open_store
from support.hostclient import HostClient
from support.stores import Store


@contextlib.contextmanager
def opening(store: Store) -> Iterator[None]:
    """Another process that opens the store, and takes its time."""
    (store.state / ".locks").mkdir(parents=True, exist_ok=True)
    descriptor = os.open(store.state / ".locks" / "open", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def test_the_busy_opening_is_told_each_second(store: Store) -> None:
    """`host.busy {what,pct}` comes each second while ops wait for the store, and then everything is answered."""
    with opening(store):
        port = store.start()
        port.initialize()
        submission = port.send("thread.create")
        begun = time.monotonic()
        told = [port.event("host.busy", timeout=4) for _ in range(3)]
        assert 1.5 < time.monotonic() - begun < 4.5
        assert all(set(event) == {"type", "what", "pct"} and event["what"] for event in told)
        assert port.ask("ping", timeout=1)["type"] == "pong"  # whatever the store does
    port.ready()
    assert port.answer(submission)["type"] == "command.ack"
    assert port.ask("ping")["type"] == "pong"


def test_who_is_in_the_way_is_named(store: Store) -> None:
    """`store_busy` with pid and version of who holds it."""
    other = store.start()
    version = other.initialize()["host"]["version"]
    other.ready()
    with opening(store), pytest.raises(StoreBusy) as caught:
        open_store(Places(str(store.state)), patience=0.05)
    assert caught.value.extra == {"pid": other.process.pid, "version": version}


@pytest.mark.long
def test_a_store_that_was_busy_is_opened_when_it_is_free(store: Store) -> None:
    """A busy store refuses what waited, retryable, naming who holds it; the same command again succeeds later."""
    other = store.open()
    with opening(store):
        port = store.start()
        port.initialize()
        submission = str(uuid.uuid4())
        refusal = port.ask("thread.create", submissionId=submission, timeout=45)
        assert (refusal["code"], refusal["retryable"], refusal["pid"]) == ("store_busy", True, other.process.pid)
    assert port.ack("thread.create", submissionId=submission)["threadId"]
    assert len(port.seen("store.ready")) == 1


@pytest.mark.parametrize("damage", ["newer", "garbage", "headless"])
def test_a_store_that_is_refused_is_left_as_it_is(store: Store, damage: str) -> None:
    """E11, E15, B49: a newer or unreadable store answers every op with its code, untouched; `ping` still works."""
    port = store.open()
    thread = port.ack("thread.create", title="precious")["threadId"]
    port.close()
    store.hosts.remove(port)
    database = store.state / "sidekeep.db"
    if damage == "newer":
        _elsewhere(
            f"db = apsw.Connection({str(database)!r})\n"
            "db.execute(\"UPDATE meta SET value = value + 41 WHERE key IN ('schemaVersion', 'minWriter')\")\n"
            "db.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()\n"
        )
        code = "store_newer"
    elif damage == "garbage":
        database.write_bytes(b"this is no database\n" * 500)
        (store.state / "sidekeep.db-wal").unlink()
        code = "storage_corrupt"
    else:
        database.write_bytes(b"")  # the log beside it is full
        code = "storage_corrupt"
    before = {path.name: path.read_bytes() for path in store.state.glob("sidekeep.db*")}
    port = store.start()
    assert port.initialize()["type"] == "initialized"
    for op, members in (
        ("thread.list", {}),
        ("thread.create", {}),
        ("thread.subscribe", {"threadId": thread}),
        ("secret.set", {"name": "a", "value": "b"}),
    ):
        refusal = port.refused(op, **members)
        assert (refusal["code"], refusal["retryable"]) == (code, False)
        assert refusal["message"]
    assert port.ask("ping")["type"] == "pong"
    assert port.refused("ping", surplus=1)["code"] == "invalid_command"
    assert port.seen("store.ready") == []
    port.close()
    store.hosts.remove(port)
    after = {path.name: path.read_bytes() for path in store.state.glob("sidekeep.db*")}
    assert {name: after[name] for name in before} == before


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """B20: with no place to write, a typed error and not a traceback."""
    (tmp_path / "file").write_text("")
    host = HostClient(tmp_path / "file" / "state")
    try:
        assert host.initialize()["type"] == "initialized"
        refusal = host.refused("thread.list")
        assert refusal["code"] in ("storage_full", "internal")
        assert host.ask("ping")["type"] == "pong"
        assert "Traceback" not in host.stderr
    finally:
        host.close()


def test_a_fault_of_ours_concerns_its_op_and_ends_no_port(store: Store) -> None:
    """E18: whatever breaks, what is readable stays readable, each op has its answer, and it is said once."""
    port = store.open()
    thread = port.ack("thread.create", title="readable")["threadId"]
    database = str(store.state / "sidekeep.db")
    _elsewhere(f"apsw.Connection({database!r}).execute('ALTER TABLE changes RENAME TO mislaid')")
    _elsewhere(f"apsw.Connection({database!r}).execute('DROP TABLE search')")
    for _ in range(3):
        refusal = port.refused("thread.create")
        assert (refusal["code"], refusal["retryable"]) == ("internal", True)
        assert port.refused("thread.search", query="readable", limit=5)["code"] == "internal"
        assert [row["title"] for row in port.query("thread.list")["threads"]] == ["readable"]
        assert port.ask("ping")["type"] == "pong"
    assert [event["code"] for event in port.seen("error")] == ["internal"]
    _elsewhere(f"apsw.Connection({database!r}).execute('ALTER TABLE mislaid RENAME TO changes')")
    port.ack("thread.update", threadId=thread, patch={"title": "mended"})
    port.event("thread.updated", threadId=thread)
    assert "Traceback" in (store.state / "logs" / "host.log").read_text()


def _elsewhere(code: str) -> None:
    subprocess.run([sys.executable, "-c", f"import apsw\n{code}"], check=True, timeout=60)


@pytest.mark.parametrize("name", [b"file", b"file/below", b"link", b"loop", b"caf\xe9", b"/".join([b"x" * 200] * 3)])
def test_a_state_folder_that_cannot_be_used_is_told_of(tmp_path: Path, name: bytes) -> None:
    """The answer says what is wrong and what to do; the port stays usable."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "else")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with HostClient(tmp_path / os.fsdecode(name)) as host:
        host.initialize()
        answer = host.refused("thread.create")
        assert (answer["code"] in ("storage_full", "internal"), answer["retryable"]) == (True, True)
        assert "SIDEKEEP_STATE" in answer["message"]
        assert "Errno" not in answer["message"]
        assert host.ask("ping")["type"] == "pong"


def test_a_folder_where_none_can_be_made_is_no_endless_try() -> None:
    """A parent that takes no folder (here /proc) ends with the system's own word."""
    with pytest.raises(FileNotFoundError):
        private_folder("/proc/none/of/this")
    with pytest.raises(FileNotFoundError):
        private_folder("/proc/none")


def test_a_store_that_is_gone_is_read_on_and_not_written(store: Store) -> None:
    """Removed while a host uses it: commands are refused with the reason, and nothing is shown as empty."""
    host = store.open()
    thread = host.ack("thread.create", title="Kept")["threadId"]
    host.ack("thread.update", threadId=thread, patch={"title": "Kept well"})
    elsewhere = store.state.with_name("elsewhere")
    store.state.rename(elsewhere)
    for _ in range(2):
        answer = host.refused("thread.update", threadId=thread, patch={"title": "Lost"})
        assert (answer["code"], answer["retryable"]) == ("storage_full", True)
        assert [one["title"] for one in host.query("thread.list")["threads"]] == ["Kept well"]
    elsewhere.rename(store.state)
    host.ack("thread.update", threadId=thread, patch={"title": "Back"})
    assert not host.seen("error")


def test_nothing_said_to_one_store_is_written_to_another(store: Store) -> None:
    """Another store in the place of this one: what comes is refused until the client knows which it speaks to."""
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    store.state.rename(store.state.with_name("elsewhere"))
    store.hosts.append(other := HostClient(store.state))
    other.initialize()
    assert other.ready()["storeId"] != host.seen("store.ready")[0]["storeId"]
    assert host.refused("thread.update", threadId=thread, patch={})["code"] == "store_busy"
    assert "Another store" in host.event("error", where=lambda event: event["code"] == "store_busy")["message"]
    assert host.process.wait(1) == 0
    assert other.query("thread.list")["threads"] == []
