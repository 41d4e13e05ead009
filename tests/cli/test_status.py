"""`sidekeep status`: the exact members that scripts read, and what it says of a store that cannot be read."""

import os
from pathlib import Path

from sidekeep import __version__
from support.stores import Store, said, text


def test_names_the_processes_exactly(running_store: Store, sidekeep) -> None:
    """`hosts` and `runner` have pid and version and nothing else, and follow the living."""
    first, second = running_store.open(), running_store.open()
    thread = first.ack("thread.create")["threadId"]
    first.query("thread.subscribe", threadId=thread)
    first.ack("turn.submit", threadId=thread, input=text("Hello."), overrides=EXTRACT)
    first.event("turn.complete", threadId=thread)

    found = sidekeep("status", "--json").document
    assert sorted(host["pid"] for host in found["hosts"]) == sorted((first.process.pid, second.process.pid))
    assert [set(host) for host in found["hosts"]] == [{"pid", "version"}, {"pid", "version"}]
    assert {host["version"] for host in found["hosts"]} == {__version__}
    assert found["runner"] == {"pid": running_store.runner_pid(), "version": __version__}
    os.kill(found["runner"]["pid"], 0)

    second.kill()
    assert [host["pid"] for host in sidekeep("status", "--json").document["hosts"]] == [first.process.pid]


def test_counts_what_is_kept(store: Store, sidekeep) -> None:
    """Conversations, nodes, trash, archive and the sizes on disk are what was acknowledged."""
    host = store.open()
    threads = [host.ack("thread.create", title=f"No. {number}")["threadId"] for number in range(4)]
    host.ack("node.append", threadId=threads[0], nodeType="user_message", payload=text("one"))
    host.ack("node.append", threadId=threads[0], nodeType="assistant_message", payload=said("two"))
    host.ack("thread.update", threadId=threads[1], patch={"archived": True})
    host.ack("thread.delete", threadId=threads[2])

    found = sidekeep("status", "--json").document
    counts = found["counts"]
    assert (counts["threads"], counts["archived"], counts["trash"], counts["nodes"]) == (3, 1, 1, 2)
    assert found["store"]["path"] == str(store.state / "sidekeep.db")
    assert found["store"]["databaseBytes"] == (store.state / "sidekeep.db").stat().st_size
    assert found["store"]["schemaVersion"] >= 1
    assert found["lastBackup"] is None
    assert found["quota"] == {"evictableBytes": 0, "limitBytes": 200 * 1024 * 1024, "attachmentsBytes": 0}
    assert tuple(map(int, found["sqlite"].split("."))) >= (3, 51, 3)


def test_without_a_store_it_says_so_and_makes_none(tmp_path: Path, sidekeep) -> None:
    """Looking makes no store: a wrong --state must not look like an empty history."""
    done = sidekeep("status", "--json")
    assert done.status == 0
    assert (done.document["store"], done.document["hosts"], done.document["runner"]) == (None, [], None)
    assert "none yet" in sidekeep("status").out
    assert not (tmp_path / "state").exists()


def test_a_damaged_store_is_named_and_left_alone(tmp_path: Path, sidekeep) -> None:
    """Status 4 and a sentence; what can be said without reading is still said, and no byte changes."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "sidekeep.db").write_bytes(b"this is no database" * 1000)
    done = sidekeep("status", "--json")
    assert done.status == 4
    assert done.document["error"]["code"] == "storage_corrupt"
    assert done.document["store"]["databaseBytes"] == 19_000
    assert done.document["hosts"] == []
    people = sidekeep("status")
    assert people.status == 4
    assert "cannot be read" in people.out
    assert (state / "sidekeep.db").read_bytes() == b"this is no database" * 1000


def test_the_newest_backup_is_the_last(store: Store, sidekeep) -> None:
    """By its time, not by its name; a file that is still being written (a dot before its name) does not count."""
    store.open()
    for name, when in (("b", 1_700_000_000), ("a", 1_800_000_000), (".c", 1_900_000_000)):
        path = store.state / "backups" / name
        path.write_bytes(b"x" * 10)
        os.utime(path, (when, when))
    found = sidekeep("status", "--json").document["lastBackup"]
    assert found == {"path": str(store.state / "backups" / "a"), "createdAt": 1_800_000_000_000, "bytes": 10}


EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}
