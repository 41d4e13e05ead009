"""Conversations of OpenProgram: taken over with their tree, the folder only read, a second time adding nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sessions.conftest import Desk
from sidekeep.model.errors import NotFound
from sidekeep.sessions import takeover
from sidekeep.sessions.takeover import Item
from sidekeep.store.verify import verify


def call(folder: Path, seq: int, role: str, node: str, output: Any, **more: Any) -> None:
    """One recorded call as OpenProgram writes it."""
    about = {
        "id": node, "created_at": 1_700_000_000.5 + seq, "seq": seq, "role": role, "name": more.pop("name", ""),
        "input": more.pop("input", None), "output": output, "caller": more.pop("caller", ""), "reads": [],
        "metadata": {"status": "done", **more},
    }  # fmt: skip
    (folder / "history" / f"{seq:04d}-{role[0]}-{node}.json").write_text(json.dumps(about, ensure_ascii=False))


def session(folder: Path, **fields: Any) -> Path:
    (folder / "history").mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"id": folder.name, "agent_id": "main", **fields}))
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with a session with tools and a branch, one of a channel, one of a project, and damaged ones."""
    root = tmp_path / "openprogram"
    first = session(
        root / "sessions" / "local_abc", title="Tide pools", created_at=1_700_000_000.0, updated_at=1_700_000_009.0,
        pinned=True, group="Sea", head_id="a2", source="tui", status="running", _auto_titled=True, unknown=1,
    )  # fmt: skip
    call(first, 0, "user", "u1", "What lives there?")
    call(first, 1, "llm", "a1", "Let me look.", predecessor="u1", name="model-x")
    call(
        first, 2, "code", "t1", {"found": ["crab"]}, caller="a1", name="look", input={"where": "pool"}, predecessor="a1"
    )
    call(first, 3, "llm", "a2", "Crabs, 螃蟹 🦀.", predecessor="a1", name="model-x")
    call(first, 4, "user", "u2", "An older branch", predecessor="u1")
    session(root / "sessions" / "wx", title="Chat", source="wechat", channel="wechat", peer_id="p", peer_display="P")
    call(session(root / "sessions" / "projects" / "11111111-1111-4111-8111-111111111111" / "s2"), 0, "user", "x", "hi")
    broken = session(root / "sessions" / "broken")
    (broken / "meta.json").write_text("{")
    damaged = session(root / "sessions" / "damaged", title="Damaged")
    call(damaged, 0, "user", "ok", "fine")
    (damaged / "history" / "0001-l-bad.json").write_text("{")
    call(damaged, 2, "llm", "orphan", "alone", predecessor="gone")
    os.symlink("/etc/passwd", damaged / "history" / "0003-u-link.json")
    (root / "sessions" / "no session").mkdir()
    return root


def taken(desk: Desk, folder: Path, **options: Any) -> dict[str, Item]:
    found = takeover.take_over(str(folder), desk.doorway.run, lambda _n, _total, _name: None, **options)
    return {item.name: item for item in found}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def branch(desk: Desk, thread: str) -> list[tuple[str, Any]]:
    """The active path, root first."""
    rows = desk.store.db.execute(
        "WITH RECURSIVE up (k, parent, type, payload) AS (SELECT n.k, n.parent, n.type, n.payload FROM threads t "
        "JOIN nodes n ON n.k = t.leaf WHERE t.id = ? UNION ALL SELECT n.k, n.parent, n.type, n.payload FROM up "
        "JOIN nodes n ON n.k = up.parent) SELECT type, payload FROM up ORDER BY k", (thread,)
    )  # fmt: skip
    return [(kind, json.loads(payload)) for kind, payload in rows]


def test_a_state_folder_is_taken_over(desk: Desk, state: Path) -> None:
    """Tree, tools between a message and what follows, times, fields, channels; what is damaged is named (B13, B18)."""
    before = bytes_of(state)
    dry = taken(desk, state, dry_run=True)
    assert dry["local_abc"].state == "taken"
    assert desk.store.db.execute("SELECT count(*) FROM threads").fetchone() == (0,)
    items = taken(desk, state)
    assert {name: (item.state, item.messages) for name, item in items.items()} == {
        "broken": ("refused", 0), "damaged": ("taken", 2), "local_abc": ("taken", 6),
        "s2": ("taken", 1), "wx": ("taken", 0),
    }  # fmt: skip
    path = branch(desk, items["local_abc"].id)
    kinds = ("user_message", "assistant_message", "tool_call", "tool_result", "assistant_message")
    assert tuple(kind for kind, _ in path) == kinds
    assert path[2][1]["toolName"] == "look"
    assert json.loads(path[2][1]["params"]) == {"where": "pool"}
    assert path[3][1]["contentForLlm"][0]["text"] == '{"found": ["crab"]}'
    assert path[4][1]["content"][0]["text"] == "Crabs, 螃蟹 🦀."
    row = desk.store.db.execute(
        "SELECT title, title_source, created_at, updated_at, pinned, grouping, source, status FROM threads "
        "WHERE id = ?",
        (items["local_abc"].id,),
    ).fetchone()
    assert row == ("Tide pools", "model", 1_700_000_000_000, 1_700_000_009_000, 1, "Sea", "tui", "idle")
    assert desk.store.db.execute("SELECT channel, peer_id FROM threads WHERE id = ?", (items["wx"].id,)).fetchone() == (
        "wechat", "p")  # fmt: skip
    faults = " ".join(items["damaged"].faults)
    assert "0001-l-bad.json" in faults
    assert "orphan" in faults
    assert "root:" not in json.dumps([payload for _, payload in branch(desk, items["damaged"].id)])
    assert bytes_of(state) == before
    assert verify(desk.store.db, deep=True).findings == []
    count = desk.store.db.execute("SELECT count(*) FROM nodes").fetchone()
    again = taken(desk, state)
    assert {item.state for item in again.values()} == {"known", "refused"}
    assert desk.store.db.execute("SELECT count(*) FROM nodes").fetchone() == count
    for item in items.values():
        if item.state == "taken":
            desk.archive.commit(item.id, rest=True)
            assert desk.git(item.id, "fsck", "--strict") == ""


def test_sessions_in_a_project_are_found(desk: Desk, tmp_path: Path) -> None:
    """The old layout inside a project; a folder without any is said to be that."""
    call(session(tmp_path / "work" / ".openprogram" / "sessions" / "old"), 0, "user", "x", "hello")
    assert taken(desk, tmp_path / "work")["old"].messages == 1
    with pytest.raises(NotFound, match="No session"):
        taken(desk, tmp_path)


@pytest.mark.parametrize("after", range(6))
def test_a_death_at_any_step_is_gone_on_with(desk: Desk, state: Path, after: int) -> None:
    """Whatever was written before it stays, the rest comes the next time, nothing twice."""
    steps = 0

    def dying(decide: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps > after:
            raise KeyboardInterrupt
        return desk.doorway.run(decide)

    with pytest.raises(KeyboardInterrupt):
        takeover.take_over(str(state), dying, lambda _n, _total, _name: None)
    taken(desk, state)
    rows = desk.store.db.execute("SELECT count(*) FROM threads").fetchone(), desk.store.db.execute(
        "SELECT count(*), count(DISTINCT id) FROM nodes").fetchone()  # fmt: skip
    assert rows == ((4,), (9, 9))
    assert verify(desk.store.db, deep=True).findings == []


def test_the_command_reports_each(state: Path, tmp_path: Path) -> None:
    """Status 1 while something was not taken; `--json` names each; a wrong source is said in a sentence."""

    def sidekeep(*words: str) -> "subprocess.CompletedProcess[str]":
        program = Path(sys.executable).with_name("sidekeep")
        given = [program, "import", *words, "--state", tmp_path / "mine"]
        return subprocess.run(given, capture_output=True, text=True, timeout=60)

    done = sidekeep(str(state), "--from", "openprogram", "--json")
    assert done.returncode == 1
    items = {item["name"]: item for item in json.loads(done.stdout)["items"]}
    assert items["local_abc"]["state"] == "taken"
    shutil.rmtree(state / "sessions" / "broken")
    again = sidekeep(str(state))
    assert (again.returncode, again.stderr) == (0, "")
    assert "known already" in again.stdout
    assert sidekeep(str(tmp_path / "nowhere")).returncode == 2
    assert sidekeep(str(state), "--from", "chatgpt").returncode == 2
