"""Several processes on one store: nothing is lost, nothing is twice, and `busy` never reaches a user."""

import contextlib
import json
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
