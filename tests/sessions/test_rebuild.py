"""`sessions rebuild`: the database from the repositories, and the repositories from the database."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from sessions.conftest import Desk
from sidekeep.model.errors import Conflict, StoreBusy
from sidekeep.model.places import Places
from sidekeep.sessions import rebuild
from sidekeep.store import projects, threads, tree, uploads
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx
from sidekeep.store.verify import verify
from support.stores import said, text

ODD = (
    "plain",
    "é\u0301 \U0001f600 中文",
    "NUL \x00 and \x7f",
    "\u202e right to left",
    "x" * 5000,
    '{"json": "\\u0000"}',
)


def _quiet(_number: int, _total: int, _what: str) -> None:
    """No progress is shown."""


def held(db: Any) -> dict[str, Any]:
    """Per thread what a rebuild has to restore: its row, its nodes and its files."""
    rows: dict[str, Any] = {}
    for row in db.execute(
        "SELECT k, id, title, title_source, created_at, pinned, archived, tags, grouping, source, agent_id, channel, "
        "project_id, deleted_at, turns, (SELECT id FROM nodes WHERE k = leaf) FROM threads ORDER BY id"
    ):
        nodes = db.execute(
            "SELECT n.id, p.id, n.ts, n.type, n.digest, n.deleted, CAST(n.payload AS BLOB) FROM nodes n "
            "LEFT JOIN nodes p ON p.k = n.parent WHERE n.k >> 32 = ? ORDER BY n.id",
            (row[0],),
        ).fetchall()
        files = db.execute(
            "SELECT id, sha256, size, mime, kind, state FROM attachments WHERE thread = ? ORDER BY id",
            (row[0],),
        ).fetchall()
        rows[row[1]] = (row[2:], nodes, files)
    return rows


def send_file(desk: Desk, thread: str, data: bytes, name: str) -> str:
    """An upload of a user's, named by a message."""

    def do(tx: Tx) -> str:
        row = threads.live(tx, thread)
        about = {"kind": "file", "mime": "text/plain", "size": len(data), "trust": "trusted", "provenance": "user",
                 "meta": {"title": name}}  # fmt: skip
        attachment, _have = uploads.begin(tx, row.k, about)
        for index in range(0, len(data), 256 * 1024):
            uploads.receive(tx, attachment, index // (256 * 1024), data[index : index + 256 * 1024])
        uploads.keep(tx, attachment)
        payload = {**text(f"look at {name}"), "attachmentIds": [attachment]}
        tree.append(tx, row, row.leaf, "user_message", payload)
        return attachment

    made: str = desk.do(do)
    return made


def grow(desk: Desk, thread: str, dice: random.Random, steps: int) -> None:
    """Branches, tombstones set and taken away, notices, odd texts, moves of the head."""
    for _ in range(steps):

        def step(tx: Tx) -> None:
            row = threads.live(tx, thread)
            nodes = [key for (key,) in tx.all("SELECT k FROM nodes WHERE k >> 32 = ?", (row.k,))]
            way = dice.random()
            if not nodes or way < 0.6:
                parent = dice.choice([*nodes, row.leaf]) if nodes else None
                kind = dice.choice(("user_message", "assistant_message", "system_notice"))
                words = dice.choice(ODD)
                payload = (
                    {"text": words}
                    if kind == "system_notice"
                    else (text(words) if kind == "user_message" else said(words))
                )
                tree.append(tx, row, parent, kind, payload, ts=dice.randrange(10**12), move=dice.random() < 0.7)
            elif way < 0.8:
                tx.run(tree.sql.set_deleted, (dice.randrange(2), dice.choice(nodes)))
                row.touch()
            else:
                tree.set_active_head(tx, row, dice.choice(nodes))

        desk.do(step)


@pytest.fixture
def filled(desk: Desk, tmp_path: Path) -> Desk:
    """Some sessions with everything, all of them committed."""
    dice = random.Random(6)
    folder = tmp_path / "work"
    folder.mkdir()
    project = desk.do(lambda tx: projects.create(tx, str(folder), "Work"))
    made = [desk.thread(title=f"No. {number}", project_id=project if number == 1 else None) for number in range(4)]
    for thread in made:
        desk.turn(thread, "a question")
        grow(desk, thread, dice, 30)
    send_file(desk, made[0], random.Random(1).randbytes(700_000), "con.txt")
    send_file(desk, made[0], b"words", "../ä.md")
    desk.do(lambda tx: threads.live(tx, made[2]).set("pinned", 1))
    desk.do(lambda tx: threads.live(tx, made[2]).set("tags", '["a","b"]'))
    desk.do(lambda tx: threads.live(tx, made[3]).set("deleted_at", 5000))
    for thread in made:
        desk.archive.commit(thread, rest=True)
        desk.archive.refresh_index(thread)
    return desk


def test_the_database_comes_back_from_the_repositories(filled: Desk) -> None:
    """Threads, nodes with their digests, tombstones, files, projects; another store id; nothing that verify finds."""
    before, store_id = held(filled.store.db), filled.store.store_id
    places = filled.store.places
    with pytest.raises(Conflict, match="--replace"):
        rebuild.database(places, _quiet)
    with pytest.raises(StoreBusy):
        rebuild.database(places, _quiet, replace=True)
    filled.close()
    told: list[tuple[int, int]] = []
    report = rebuild.database(places, lambda number, total, _what: told.append((number, total)), replace=True)
    assert report.faults == {}
    assert report.sessions == 4
    assert told == [(number, 4) for number in range(1, 5)]
    store = open_store(places)
    try:
        after = held(store.db)
        assert {name: row[:2] for name, row in after.items()} == {name: row[:2] for name, row in before.items()}
        for name, (_row, _nodes, files) in before.items():
            # What is in the message is restored; a type that its name does not show is a claim that is lost.
            assert [(f[0], f[1], f[2], f[5]) for f in after[name][2]] == [(f[0], f[1], f[2], f[5]) for f in files]
        assert store.store_id != store_id
        assert [project.name for project in Doorway(store).run(projects.listing)] == ["Default", "Work"]
        assert verify(store.db, deep=True).findings == []
    finally:
        store.close()
    assert report.kept is not None
    assert (Path(report.kept) / "sidekeep.db").exists()


def test_what_was_rebuilt_is_committed_on_and_again(filled: Desk) -> None:
    """The repositories go on: the commits are listed, a turn adds one, and a second rebuild finds the same."""
    places = filled.store.places
    filled.close()
    rebuild.database(places, _quiet, replace=True)
    desk = Desk(Path(places.state))
    try:
        thread = next(iter(held(desk.store.db)))
        log = desk.git(thread, "log", "--format=%H").split()
        desk.turn(thread, "after the loss")
        desk.archive.commit(thread, rest=True)
        assert desk.git(thread, "log", "--format=%H").split()[1:] == log
        assert desk.git(thread, "fsck", "--strict") == ""
        desk.archive.refresh_index(thread)
        assert desk.git(thread, "status", "--porcelain") == ""
        once = held(desk.store.db)
    finally:
        desk.close()
    rebuild.database(places, _quiet, replace=True)
    store = open_store(places)
    try:
        again = held(store.db)
        assert again[thread][1] == once[thread][1]
    finally:
        store.close()


def test_a_damaged_repository_gives_what_can_be_read(filled: Desk) -> None:
    """A node that is not what its digest says is named, what hangs below it stays; other sessions are whole."""
    places = filled.store.places
    thread = next(name for name, row in held(filled.store.db).items() if len(row[1]) > 10)
    rows = held(filled.store.db)[thread][1]
    victim = next(row[1] for row in rows if row[1] is not None)
    folder = filled.folder(thread)
    (path,) = folder.glob(f"history/*/*/*-{victim}.json")
    about = json.loads(path.read_text())
    about["payload"] = {"content": [{"type": "text", "text": "forged"}]}
    path.write_text(json.dumps(about))
    (folder / "history" / "deadbeef" / "0000").mkdir(parents=True)
    (folder / "history" / "deadbeef" / "0000" / "link").symlink_to("/etc/passwd")
    filled.git(thread, "add", "-A")
    filled.git(thread, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "damage")
    other = next(name for name in held(filled.store.db) if name != thread)
    before = held(filled.store.db)
    filled.close()
    (Path(places.sessions) / "locations.json").write_text("{")
    report = rebuild.database(places, _quiet, replace=True)
    assert set(report.faults) == {thread}
    assert any(victim in fault and "digest" in fault for fault in report.faults[thread])
    assert any("link" in fault for fault in report.faults[thread])
    store = open_store(places)
    try:
        after = held(store.db)
        assert after[other][:2] == before[other][:2]
        assert {row[0] for row in after[thread][1]} == {row[0] for row in rows}
        lost = next(row for row in after[thread][1] if row[0] == victim)
        assert lost[3] == "system_notice"
        assert b"lost" in lost[6]
    finally:
        store.close()


def test_repositories_come_back_from_the_database(filled: Desk) -> None:
    """One that is gone and one that cannot be read are made anew; the others stay as they are."""
    places = filled.store.places
    names = sorted(held(filled.store.db))
    heads = {name: filled.git(name, "rev-parse", "HEAD") for name in names}
    shutil.rmtree(filled.folder(names[0]))
    (filled.folder(names[1]) / ".git" / "refs" / "heads" / "main").write_text("0" * 40 + "\n")
    before = held(filled.store.db)
    filled.close()
    report = rebuild.repositories(places, _quiet)
    assert report.faults == {}
    assert report.sessions == 4
    desk = Desk(Path(places.state))
    try:
        assert held(desk.store.db) == before
        for name in names:
            assert desk.git(name, "fsck", "--strict") == ""
            assert desk.git(name, "status", "--porcelain") == ""
        assert {name: desk.git(name, "rev-parse", "HEAD") for name in names[2:]} == {n: heads[n] for n in names[2:]}
        tree_of = [desk.git(name, "ls-tree", "-r", "--name-only", "HEAD").count("history/") for name in names]
        assert tree_of == [len(before[name][1]) for name in names]
    finally:
        desk.close()


def test_a_run_in_the_middle_does_not_stop_it(desk: Desk) -> None:
    """A session whose status was running comes back idle: nothing runs in a store that was just made."""
    thread = desk.thread(title="T")
    desk.turn(thread)
    desk.do(lambda tx: threads.live(tx, thread).set("status", "running"))
    desk.archive.commit(thread, rest=True)
    places = desk.store.places
    desk.close()
    rebuild.database(places, _quiet, replace=True)
    store = open_store(Places(places.state))
    try:
        assert store.db.execute("SELECT status FROM threads").fetchall() == [("idle",)]
        assert store.db.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    finally:
        store.close()
