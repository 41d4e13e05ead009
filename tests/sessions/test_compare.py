"""`verify` against Git: each fault is named, and repaired from the side that has it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from sessions.conftest import Desk
from sessions.test_rebuild import filled, held
from sidekeep.sessions import compare
from sidekeep.store import threads
from sidekeep.store.tx import Tx
from sidekeep.store.verify_findings import Report

__all__ = ["filled"]


def _found(desk: Desk, *, deep: bool = True) -> Report:
    return compare.check(desk.store.places, desk.doorway.run, lambda _what, _done, _total: None, deep=deep)


def _mended(desk: Desk) -> dict[str, int]:
    refused: list[str] = []
    done = compare.mend(desk.store.places, desk.doorway, _found(desk), refused.append)
    assert refused == []
    return done


def test_what_is_right_is_right(filled: Desk) -> None:
    """Also with messages and tombstones that are not committed yet: being behind is no fault."""
    assert _found(filled).findings == []
    thread = next(iter(held(filled.store.db)))
    filled.turn(thread, "not committed")
    filled.do(lambda tx: tx.run("UPDATE nodes SET deleted = 1 - deleted WHERE k = (SELECT min(k) FROM nodes)"))
    assert _found(filled).findings == []
    assert _found(filled).checked["repositories"] == 4


def test_each_fault_is_named_and_mended(filled: Desk) -> None:
    """Gone, unreadable, another history, a forged node: committed anew; the store stays as it is."""
    names = sorted(held(filled.store.db))
    before = held(filled.store.db)
    shutil.rmtree(filled.folder(names[0]))
    (filled.folder(names[1]) / ".git" / "refs" / "heads" / "main").unlink()
    folder = filled.folder(names[2])
    (path,) = list(folder.glob("history/*/*/*.json"))[:1]
    path.write_text(json.dumps({**json.loads(path.read_text()), "ts": 1}))
    filled.git(names[2], "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "forged")
    filled.git(names[3], "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--amend", "-m", "another")
    stray = Path(filled.store.places.sessions) / "00000000-0000-4000-8000-000000000001"
    shutil.copytree(filled.folder(names[3]), stray)
    codes = {(finding.thread, finding.code) for finding in _found(filled).findings}
    assert codes == {
        (names[0], "repository_lost"), (names[1], "repository_unreadable"), (names[2], "repository_wrong"),
        (names[3], "repository_wrong"), (stray.name, "repository_left_over"),
    }  # fmt: skip
    quick = {(finding.thread, finding.code) for finding in _found(filled, deep=False).findings}
    assert quick == codes - {(names[2], "repository_wrong")}
    assert _mended(filled) == {"repository_lost": 1, "repository_unreadable": 1, "repository_wrong": 2}
    assert [finding.code for finding in _found(filled).findings] == ["repository_left_over"]
    assert stray.exists()
    assert held(filled.store.db) == before
    for name in names:
        assert filled.git(name, "fsck", "--strict") == ""


def test_a_lost_message_is_brought_back_from_its_repository(filled: Desk) -> None:
    """The newest nodes are gone from the database: they come back under their ids, as their digests say."""
    thread = next(name for name, row in held(filled.store.db).items() if len(row[1]) > 10)
    before = held(filled.store.db)[thread][1]
    gone = filled.store.db.execute(
        "SELECT k, id FROM nodes WHERE k >> 32 = (SELECT k FROM threads WHERE id = ?) ORDER BY k DESC LIMIT 3",
        (thread,),
    ).fetchall()

    def lose(tx: Tx) -> None:
        row = threads.live(tx, thread)
        row.set("leaf", None)
        for k, _node in gone:
            for table, column in (("branch_choices", "child"), ("node_origins", "node"), ("session_marks", "node")):
                tx.run(f"DELETE FROM {table} WHERE {column} = ?", (k,))
            tx.run("DELETE FROM nodes WHERE k = ?", (k,))

    filled.store.db.pragma("foreign_keys", False)
    filled.do(lose)
    filled.store.db.pragma("foreign_keys", True)
    found = [finding for finding in _found(filled).findings if finding.code == "repository_ahead"]
    assert {finding.id for finding in found} == {node for _k, node in gone}
    assert _mended(filled) == {"repository_ahead": 1}
    assert held(filled.store.db)[thread][1] == before
    assert _found(filled).findings == []


def test_the_command_says_it(filled: Desk) -> None:
    """`sidekeep verify` has status 1 for a lost repository, and 0 after `--repair --yes`."""
    shutil.rmtree(filled.folder(next(iter(held(filled.store.db)))))
    filled.do(lambda tx: tx.run("DELETE FROM runs"))  # written by these tests without an environment
    state = filled.store.places.state
    filled.close()

    def sidekeep(*words: str) -> "subprocess.CompletedProcess[str]":
        program = Path(sys.executable).with_name("sidekeep")
        return subprocess.run([program, "verify", *words, "--state", state], capture_output=True, text=True, timeout=60)

    told = sidekeep()
    assert told.returncode == 1, told.stdout
    assert "repository_lost" in told.stdout
    assert sidekeep("--json").returncode == 1
    mended = sidekeep("--repair", "--yes")
    assert mended.returncode == 0, mended.stdout
    assert "mended: 1 × repository_lost" in mended.stdout
    assert json.loads(sidekeep("--deep", "--json").stdout)["repositories"]["ok"] is True
