"""`sidekeep verify` as a person and a script use it: what it says, how it ends, what it leaves alone."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.damage import behind_its_back, check, overwrite, pages_of, rows, sidekeep
from support.stores import temporary_store

Made = dict[str, Any]


def lose(state: Path, node: str) -> None:
    with behind_its_back(state) as db:
        db.execute("DELETE FROM nodes WHERE id = ?", (node,))


def test_a_sound_store(state: Path) -> None:
    """All is well: status 0, and the numbers of what was looked at."""
    done = sidekeep(state, "verify", "--deep", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["ok"]
    assert document["findings"] == []
    assert document["checked"]["threads"] == 5
    assert document["checked"]["bytes"] > 700_000
    assert document["checked"]["snapshots"] == 1
    assert done.stderr == ""


def test_proposed_and_not_done(made: Made, state: Path) -> None:
    """E13: without agreement `--repair` only says what it would do; status 1, and the store is as it was."""
    lose(state, made["nodes"][3])
    before = rows(state)
    done = sidekeep(state, "verify", "--repair")
    assert done.returncode == 1
    assert "node_lost" in done.stdout
    assert "--yes" in done.stdout
    told = json.loads(sidekeep(state, "verify", "--repair", "--json").stdout)
    assert {finding["code"] for finding in told["findings"]} == {"node_lost", "leaf_unreachable", "search_left_over"}
    assert all(finding["repair"] for finding in told["findings"])
    assert [finding.get("threadId") for finding in told["findings"]] == [made["talk"], made["talk"], None]
    assert rows(state) == before
    assert not list((state / "backups").iterdir())


def test_repaired_after_a_copy(made: Made, state: Path) -> None:
    """`--repair --yes` copies first, mends, checks again: status 0, and the copy still holds the damage."""
    lose(state, made["nodes"][3])
    damaged = rows(state)
    done = sidekeep(state, "verify", "--repair", "--yes", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["after"]["ok"]
    assert document["repair"]["mended"] == {"node_lost": 1}
    copy = Path(document["repair"]["copy"])
    assert os.stat(copy).st_mode & 0o777 == 0o600
    elsewhere = state.parent / "elsewhere"
    elsewhere.mkdir()
    copy.rename(elsewhere / "sidekeep.db")
    assert rows(elsewhere) == damaged


def test_mended_beside_a_living_host(made: Made, state: Path) -> None:
    """D1: while a panel shows the conversation it is mended, and the panel hears of it."""
    with temporary_store(state) as store:
        host = store.open()
        host.query("thread.subscribe", threadId=made["talk"])
        lose(state, made["nodes"][3])
        assert sidekeep(state, "verify", "--repair", "--yes").returncode == 0
        event = host.event("thread.node", where=lambda event: event["node"]["id"] == made["nodes"][3])
        assert event["node"]["payload"]["code"] == "lost_node"
        assert host.ack("thread.create", title="Goes on")["threadId"]


def test_no_answer_is_mended_over(made: Made, state: Path) -> None:
    """A conversation in which an answer waits or is written is left alone and named; the others are mended."""
    lose(state, made["nodes"][3])
    with behind_its_back(state) as db:
        db.execute("UPDATE threads SET leaf = NULL WHERE id = ?", (made["other"],))
    with temporary_store(state) as store:
        host = store.open()
        host.ack("turn.submit", threadId=made["talk"], input={"content": [{"type": "text", "text": "Go on"}]})
        done = sidekeep(state, "verify", "--repair", "--yes", "--json")
        document = json.loads(done.stdout)
        assert done.returncode == 1
        assert set(document["after"]["faults"]) == {"node_lost", "leaf_unreachable"}
        assert any("stop it" in line for line in document["repair"]["refused"])


def test_damaged_pages(made: Made, state: Path) -> None:
    """Status 4 says that the file itself is damaged; while a host uses it nothing is put in its place; then it is."""
    page = pages_of(state, "nodes")[0]
    with temporary_store(state) as store:
        store.open()
        overwrite(state, (page - 1) * 4096, os.urandom(4096))
        assert sidekeep(state, "verify").returncode == 4
        busy = sidekeep(state, "verify", "--repair", "--yes", "--json")
        assert json.loads(busy.stdout)["error"]["code"] == "store_busy"
        assert busy.returncode == 1
    done = sidekeep(state, "verify", "--repair", "--yes", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0, document
    assert document["repair"]["placed"]
    assert {gap["table"] for gap in document["repair"]["gaps"]} == {"nodes"}
    assert check(state).sound


def test_nothing_to_read(made: Made, state: Path) -> None:
    """E15: a file that is no database is refused with status 4, also with `--repair`, and stays as it is."""
    overwrite(state, 0, b"no database " * 400)
    size = os.stat(state / "sidekeep.db").st_size
    for words in ((), ("--repair", "--yes")):
        done = sidekeep(state, "verify", *words)
        assert done.returncode == 4
        assert "backup" in done.stderr
        assert "Traceback" not in done.stderr
    assert os.stat(state / "sidekeep.db").st_size == size


def test_no_store(tmp_path: Path) -> None:
    """Where no store is none is made."""
    done = sidekeep(tmp_path / "none", "verify")
    assert done.returncode == 1
    assert not (tmp_path / "none").exists()


def test_cancelled(made: Made, state: Path) -> None:
    """Ctrl-C ends a check at once, with status 130, and leaves nothing behind."""
    before = rows(state)
    code = (
        "import os, signal, sys\n"
        "from sidekeep.cli import progress, main\n"
        "calls = 0\n"
        "class Stop(progress.Line):\n"
        "    def __call__(self, what, done, total):\n"
        "        if what == 'attachments':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "progress.Line = Stop\n"
        f"sys.exit(main.main(['verify', '--deep', '--state', {str(state)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode in (130, -signal.SIGINT), done
    assert done.stdout == ""
    assert rows(state) == before


@pytest.mark.parametrize("name", ["sqlite_autoindex_nodes_1", "nodes_by_parent", "threads_listed"])
def test_an_index_is_made_anew(name: str, made: Made, state: Path) -> None:
    """E9: an index that was lost is named and made anew from what it is an index of; every row is as it was."""
    before = rows(state)
    for page in pages_of(state, name):
        overwrite(state, (page - 1) * 4096, bytes(4096))
    assert sidekeep(state, "verify", "--deep").returncode == 4
    assert sidekeep(state, "verify", "--deep", "--repair", "--yes").returncode == 0
    assert rows(state) == before
