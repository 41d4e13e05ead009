"""Damage of the file itself: pages that cannot be read are gone past, and everything else is saved."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from sidekeep.model.places import Places
from sidekeep.store.salvage import Outcome, salvage_store
from support.damage import behind_its_back, check, copied, copy_store, overwrite, pages_of, rows, snapshot
from support.stores import temporary_store, text

Made = dict[str, Any]
PAGE = 4096
TABLES = (
    "threads", "nodes", "attachments", "blobs", "blob_chunks", "pages", "runs", "command_receipts", "changes",
    "settings", "connections", "meta", "branch_choices", "sqlite_autoindex_nodes_1", "nodes_by_parent", "search_rows",
    "search_data",
)  # fmt: skip


def ruin(state: Path, page: int) -> None:
    """Fill a page with what is no page."""
    overwrite(state, (page - 1) * PAGE, random.Random(page).randbytes(PAGE))


def saved(state: Path) -> Outcome:
    """After `sidekeep verify --repair --yes` of a file with unreadable pages."""
    outcome = salvage_store(Places(str(state)), lambda _what, _done, _total: None)
    assert outcome.placed
    assert outcome.left.sound, outcome.left.shown()
    assert check(state).sound
    return outcome


@pytest.mark.parametrize("table", TABLES)
def test_any_page_may_go(table: str, made: Made, state: Path) -> None:
    """E13, E18: with one page of any table or index gone the check says so, the repair saves every row of all other
    tables and of all other pages, and the store opens and shows its conversations."""
    page = pages_of(state, table)[0]
    before = rows(state)
    lost = keys_on(state, page) if table == "nodes" else set()
    ruin(state, page)
    report = check(state)
    assert not report.sound
    assert report.unreadable
    outcome = saved(state)
    after = rows(state)
    others = {key: row for key, row in before.items() if key[0] != table and not depends(key[0], table)}
    assert {key: after.get(key) for key in others} == others
    if table == "nodes":
        kept = {key for key in before if key[0] == "nodes" and key[1] not in lost}
        assert {key: after.get(key) for key in kept} == {key: before[key] for key in kept}
        assert {gap.table for gap in outcome.salvaged.gaps} == {"nodes"}
        # The index still knew the names of those that were lost.
        assert {key[1] for key in after if key[0] == "nodes"} >= lost
    assert snapshot(state, made["other"] if table != "threads" else any_thread(state))["nodes"]


def depends(table: str, damaged: str) -> bool:
    """Rows that say something of the rows that were lost."""
    return table in {
        "threads": {"nodes", "attachments", "pages", "runs"},
        "nodes": {"threads"},
        "blobs": {"attachments", "nodes", "pages"},
        "blob_chunks": {"attachments", "nodes", "pages"},
        "attachments": {"nodes", "pages"},
        "changes": {"threads"},
        "pages": {"attachments"},
        "runs": {"threads"},
    }.get(damaged, set())


def any_thread(state: Path) -> str:
    return next(key[1] for key, row in rows(state).items() if key[0] == "threads" and row[31] is None and row[7])


def keys_on(state: Path, page: int) -> set[str]:
    """Ids of nodes that cannot be read once this page is gone."""
    trial = copy_store(state, state.parent / "trial")
    ruin(trial, page)
    db = apsw.Connection(str(trial / "sidekeep.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    lost = set()
    try:
        for (_table, node_id), row in [item for item in rows(state).items() if item[0][0] == "nodes"]:
            try:
                found = db.execute("SELECT payload FROM nodes WHERE k = ?", (row[0],)).fetchone()
            except apsw.CorruptError:
                found = None
            if found is None:
                lost.add(node_id)
    finally:
        db.close()
    assert lost
    return lost


def test_many_pages_may_go(made: Made, tmp_path: Path) -> None:
    """A long conversation of which one page in fifteen is lost: every message on the others is saved unchanged."""
    state = tmp_path / "state"
    with temporary_store(state) as store:
        host = store.open()
        thread = host.ack("thread.create", title="Long")["threadId"]
        nodes = [
            host.ack(
                "node.append", threadId=thread, nodeType="user_message", payload=text(f"{n} " + "word " * (n % 90))
            )["nodeId"]
            for n in range(800)
        ]
    with behind_its_back(state):
        pass  # into the file, out of the log
    before = rows(state)
    pages = pages_of(state, "nodes")
    chance = random.Random(11)
    gone = chance.sample(pages, len(pages) // 15)
    trial = copy_store(state, tmp_path / "trial")
    for page in gone:
        ruin(state, page)
        ruin(trial, page)
    readable = set()
    db = apsw.Connection(str(trial / "sidekeep.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    for node in nodes:
        try:
            found = db.execute("SELECT 1 FROM nodes WHERE k = ?", (before[("nodes", node)][0],)).fetchone()
        except apsw.CorruptError:
            found = None
        if found:
            readable.add(node)
    db.close()
    assert 0 < len(readable) < len(nodes)
    outcome = saved(state)
    after = rows(state)
    assert all(after[("nodes", node)] == before[("nodes", node)] for node in readable)
    assert outcome.salvaged.rows["nodes"] >= len(readable)
    assert len(outcome.salvaged.gaps) >= 1
    # The others stand as notices, under their own ids as far as the index still told them.
    assert check(state).remarks["placeholders"] == len(nodes) - len(readable)
    assert len({key for key in after if key[0] == "nodes"} & {("nodes", node) for node in nodes}) == len(nodes)


def test_the_damaged_file_is_kept(made: Made, state: Path) -> None:
    """The file as it was lies beside the new one, page for page, and the store has another id."""
    page = pages_of(state, "nodes")[0]
    ruin(state, page)
    size = os.stat(state / "sidekeep.db").st_size
    outcome = saved(state)
    assert os.stat(outcome.copy).st_size == size
    copy = copy_store(made["state"], state.parent / "again")
    copied(Path(outcome.copy), copy / "sidekeep.db")
    assert not check(copy).sound
    with temporary_store(state) as store:
        host = store.open()
        assert host.seen("store.ready")[0]["storeId"] != made["storeId"]
    assert sorted(path.name for path in (state / "backups").iterdir()) == [Path(outcome.copy).name]


def test_nothing_is_written_to_a_damaged_store(made: Made, state: Path) -> None:
    """E18: once a host has met a damaged page it writes nothing more, says so, and still reads what can be read."""
    pages = pages_of(state, "nodes")
    ruin(state, pages[-1])
    with temporary_store(state) as store:
        host = store.open()
        shown = host.query("thread.subscribe", threadId=made["talk"])
        assert shown["thread"]["title"] == "A talk"
        damaged = host.refused("thread.fork", threadId=made["asked"], atNodeId=rows_of(state, made)[-1])
        assert damaged["code"] == "storage_corrupt"
        assert "verify --repair" in damaged["message"]
        assert host.refused("thread.create", title="New")["code"] == "storage_corrupt"
        assert host.query("thread.subscribe", threadId=made["talk"])["nodes"]
        assert len(host.query("thread.list", limit=50)["threads"]) == 4


def rows_of(state: Path, made: Made) -> list[str]:
    """Ids of the thread's nodes that were asked for, from the undamaged store."""
    found = rows(made["state"])
    thread = found[("threads", made["asked"])][0]
    return [key[1] for key, row in found.items() if key[0] == "nodes" and row[0] >> 32 == thread]


def test_what_is_no_database_stays_as_it_is(made: Made, state: Path) -> None:
    """E15: a file of which nothing can be read is neither used nor made anew; it is refused and untouched."""
    overwrite(state, 0, b"this is no database " * 300)
    size = os.stat(state / "sidekeep.db").st_size
    with temporary_store(state) as store:
        host = store.start()
        assert host.initialize()["type"] == "initialized"
        assert host.refused("thread.create", title="New")["code"] == "storage_corrupt"
    assert os.stat(state / "sidekeep.db").st_size == size
    with pytest.raises(apsw.NotADBError):
        rows(state)


def test_a_runner_lets_a_damaged_store_go(made: Made, state: Path) -> None:
    """E18: a runner that nobody needs leaves also when it can no longer ask the store, so that a repair can begin."""
    ruin(state, pages_of(state, "jobs")[0])
    runner = subprocess.Popen(
        [str(Path(sys.executable).parent / "sidekeep-runner"), "--state", str(state), "--idle-seconds", "0.2"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert runner.wait(20) == 0
    finally:
        if runner.poll() is None:
            runner.kill()
            runner.wait()
    saved(state)
