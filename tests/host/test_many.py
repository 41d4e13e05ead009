"""Several processes on one store: nothing is lost, nothing is twice, and `busy` never reaches a user."""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidekeep.model.errors import StoreBusy
from sidekeep.model.places import Places
from sidekeep.store.opener import open_store
from support.hostclient import HostClient
from support.stores import Store, temporary_store, text

#: Writes through the package as the shell's commands do: another process, the same doorway.
SHELL = """
import sys
from sidekeep.model.places import Places
from sidekeep.store import threads, tree
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store

store = open_store(Places(sys.argv[1]))
doorway = Doorway(store)
for number in range(int(sys.argv[2])):
    doorway.run(lambda tx: threads.create(tx, {"title": f"shell {number}", "source": "shell"}).id)
print("done")
"""


def listed(port: HostClient) -> list[dict[str, Any]]:
    """The whole list, page by page."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = port.query("thread.list", limit=500, timeout=30, **cursor)
        found += page["threads"]
        if page["cursor"] is None:
            return found
        cursor = {"cursor": page["cursor"]}


def test_hosts_and_the_shell_write_one_store_at_once(store: Store) -> None:
    """B38, E43: 4 hosts and the command line: exact counts, a total order in each thread, never a busy store."""
    hosts = [store.open() for _ in range(4)]
    shared = [hosts[0].ack("thread.create", title=f"shared {number}")["threadId"] for number in range(4)]
    shell = subprocess.Popen(
        [sys.executable, "-c", SHELL, str(store.state), "200"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    each = 400
    failures: list[Any] = []

    def work(index: int) -> None:
        host = hosts[index]
        for start in range(0, each, 20):
            sent = [
                host.send(
                    "node.append",
                    threadId=shared[(index + number) % 4],
                    nodeType="user_message",
                    payload=text(f"{index}:{number}"),
                )
                for number in range(start, start + 20)
            ]
            failures.extend(
                answer for answer in (host.answer(one, timeout=60) for one in sent) if answer["type"] != "command.ack"
            )

    workers = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert shell.communicate(timeout=60)[0] == b"done\n"
    assert failures == []
    said: dict[str, int] = {}
    for thread in shared:
        nodes = whole(hosts[1], thread)
        assert [node["seq"] for node in nodes] == list(range(1, len(nodes) + 1))
        for node in nodes:
            words = node["payload"]["content"][0]["text"]
            said[words] = said.get(words, 0) + 1
        own = [node["payload"]["content"][0]["text"] for node in nodes]
        for index in range(4):
            order = [int(words.split(":")[1]) for words in own if words.startswith(f"{index}:")]
            assert order == sorted(order)
    assert said == {f"{index}:{number}": 1 for index in range(4) for number in range(each)}
    rows = listed(hosts[2])
    assert len(rows) == 4 + 200
    assert sum(row["source"] == "shell" for row in rows) == 200


def whole(port: HostClient, thread: str) -> list[dict[str, Any]]:
    """Every message of the active path, root first."""
    shown = port.query("thread.subscribe", threadId=thread)
    nodes, before = shown["nodes"], shown["before"]
    while before is not None:
        page = port.query("thread.page", threadId=thread, beforeNodeId=before, limit=200)
        nodes, before = page["nodes"] + nodes, page["before"]
    return list(nodes)


def test_new_stores_are_made_once_by_many_at_once(tmp_path: Path) -> None:
    """E8: hosts that start together on no store: one makes it, all serve it."""
    for number in range(3):
        with temporary_store(tmp_path / str(number)) as store:
            hosts = [store.start() for _ in range(4)]
            for host in hosts:
                host.send("initialize", protocol="sidekeep/1", schemaHash="*", clientId=host.client_id)
            assert len({host.ready(timeout=20)["storeId"] for host in hosts}) == 1
            threads = {host.ack("thread.create")["threadId"] for host in hosts}
            assert {row["id"] for row in listed(hosts[0])} == threads


def test_an_op_waits_while_another_process_holds_the_store(store: Store) -> None:
    """`busy` never reaches a user: a command waits for a writer that takes two seconds."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    with write_lock(store.state / "sidekeep.db") as let_go:
        submission = port.send("thread.update", threadId=thread, patch={"title": "patient"})
        asked = port.send("ping")
        timer = threading.Timer(2, let_go)
        timer.start()
        assert port.answer(submission, timeout=15)["type"] == "command.ack"
        assert port.answer(asked)["type"] == "pong"
        timer.join()


def test_readers_never_wait_for_a_writer(store: Store) -> None:
    """Another host reads what is committed while a writer is at work."""
    port = store.open()
    thread = port.ack("thread.create", title="seen")["threadId"]
    with write_lock(store.state / "sidekeep.db"):
        begun = time.monotonic()
        assert port.query("thread.subscribe", threadId=thread)["thread"]["title"] == "seen"
        assert [row["id"] for row in port.query("thread.list")["threads"]] == [thread]
        assert time.monotonic() - begun < 1


def test_thirty_two_ops_wait_for_a_thread_and_more_are_told_so(store: Store) -> None:
    """32 ops may wait for one thread; more get `overloaded`; another thread's are taken meanwhile."""
    port = store.open()
    full, free = (port.ack("thread.create")["threadId"] for _ in range(2))
    with write_lock(store.state / "sidekeep.db") as let_go:
        # The first is in the writer's hands, where it waits for the lock.
        sent = [
            port.send("node.append", threadId=full, nodeType="user_message", payload=text(str(number)))
            for number in range(40)
        ]
        other = port.send("node.append", threadId=free, nodeType="user_message", payload=text("free"))
        let_go()
        answers = [port.answer(submission, timeout=20) for submission in sent]
        assert port.answer(other)["type"] == "command.ack"
    refused = [answer for answer in answers if answer["type"] == "command.rejected"]
    assert {(answer["code"], answer["retryable"]) for answer in refused} == {("overloaded", True)}
    assert len(refused) == 8
    assert answers[32:] == refused
    shown = port.query("thread.subscribe", threadId=full)
    assert [node["payload"]["content"][0]["text"] for node in shown["nodes"]] == [str(n) for n in range(32)]
    # Decided anew: the same command again is taken.
    again = port.ack(
        "node.append",
        threadId=full,
        nodeType="user_message",
        payload=text("39"),
        submissionId=refused[-1]["submissionId"],
    )
    assert again["seq"] == 33


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


# ---- stores that are refused ----


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


def test_no_code_of_ours_opens_the_live_files(store: Store) -> None:
    """E16: only SQLite opens the database and its log: an own open() and close() would drop its locks.

    What makes a file that is not there yet (O_EXCL) opens none that lives.
    """
    hook = (
        "import os, sys\n"
        "def hook(event, args):\n"
        "    if event == 'open' and 'sidekeep.db' in str(args[0]) and not (args[2] or 0) & os.O_EXCL:\n"
        "        os.write(2, f'OPENED {args[0]}\\n'.encode())\n"
        "sys.addaudithook(hook)\n"
        "from sidekeep.host.main import main\nsys.exit(main())\n"
    )
    from support.hostclient import fixed_origin

    port = store.open(command=[sys.executable, "-c", hook], arguments=[fixed_origin()])
    thread = port.ack("thread.create")["threadId"]
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("x"))
    port.query("storage.status")
    port.query("thread.search", query="x", limit=5)
    port.ack("secret.set", name="k", value="v")
    log = store.state / "sidekeep.db-wal"
    end = time.monotonic() + 10
    while log.stat().st_size < 16 * 1024 * 1024:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "OPENED" not in port.stderr


def test_a_header_never_stands_without_its_nodes(store: Store) -> None:
    """E5: list and content share one transaction: killed at any moment, no title without its message."""
    for _ in range(6):
        port = store.open()
        for _ in range(40):
            thread = str(uuid.uuid4())
            port.send("thread.create", threadId=thread)
            port.send("turn.submit", threadId=thread, input=text("kept whole"))
        port.until(lambda events: sum(event["type"] == "command.ack" for event in events) > 10, "ten answers")
        port.kill()
    port = store.open()
    for row in listed(port):
        nodes = port.query("thread.subscribe", threadId=row["id"])["nodes"]
        assert (row.get("preview"), row["leafId"], len(nodes)) in (
            (None, None, 0),
            ("kept whole", nodes and nodes[0]["id"], 1),
        )
        assert (row["status"] == "running") == bool(nodes)


@contextlib.contextmanager
def write_lock(database: Path) -> Iterator[Any]:
    """Another process in the middle of a transaction; yields what ends it."""
    code = (
        "import apsw, sys\n"
        f"db = apsw.Connection({str(database)!r})\n"
        "db.execute('BEGIN IMMEDIATE')\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == b"held\n"
        yield process.stdin.close
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def _elsewhere(code: str) -> None:
    subprocess.run([sys.executable, "-c", f"import apsw\n{code}"], check=True, timeout=60)


def test_the_processes_name_themselves(store: Store) -> None:
    """B38: each host has an id, a lock and a file; a dead one's file is removed by the next."""
    hosts = [store.open() for _ in range(3)]
    found = sorted((store.state / "hosts").glob("*.json"))
    assert {json.loads(path.read_text())["pid"] for path in found} == {host.process.pid for host in hosts}
    hosts[0].kill()
    store.open()
    pids = {json.loads(path.read_text())["pid"] for path in (store.state / "hosts").glob("*.json")}
    assert hosts[0].process.pid not in pids
    assert len(pids) == 3
