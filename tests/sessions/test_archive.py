"""A conversation's repository: one commit a turn, the layout on disk, and what every death in between leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sessions.conftest import Desk
from sidekeep.model.canonical import canonical
from sidekeep.model.digests import node_digest
from sidekeep.sessions import gitdir, registry
from sidekeep.store import purge, session_repos, threads, tree
from sidekeep.store.tx import Tx

META = {
    "id", "agent_id", "title", "created_at", "updated_at", "project_id", "source", "channel", "account_id",
    "peer_display", "peer_id", "pinned", "archived", "group", "status", "unread", "_auto_titled", "head_id",
}  # fmt: skip


def _commits(desk: Desk, thread: str) -> list[tuple[str, str | None]]:
    rows = desk.doorway.run(lambda tx: session_repos.commits(tx, threads.live(tx, thread).k, 1000))
    return [(row.id, row.turn_id) for row in rows]


def test_each_turn_has_one_commit_that_names_model_and_usage(desk: Desk) -> None:
    """Three turns while nobody committed are three commits, oldest first, and nothing is committed twice."""
    thread = desk.thread(title="A talk")
    turns = [desk.turn(thread, f"question {n}") for n in range(3)]
    desk.archive.commit(thread, rest=False)
    desk.archive.commit(thread, rest=True)
    assert [turn for _, turn in _commits(desk, thread)] == turns[::-1]
    log = desk.git(thread, "log", "--format=%H").split()
    assert log == [commit for commit, _ in _commits(desk, thread)]
    message = desk.git(thread, "log", "-1", "--format=%B")
    assert message.startswith("Turn 3: question 2\n")
    assert "Model: tiny-model\nUsage: 12 in, 3 out tokens" in message
    assert desk.git(thread, "show", "--name-only", "--format=", "HEAD").count("history/") == 2
    assert desk.git(thread, "fsck", "--full", "--strict") == ""


def test_the_layout_is_that_of_the_document(desk: Desk) -> None:
    """`meta.json` has every field; a node's file proves its own digest; the small files list the session."""
    thread = desk.thread(title="Names", channel="wechat", account_id="a", peer_id="p", peer_display="P")
    desk.turn(thread)
    desk.archive.commit(thread, rest=False)
    desk.archive.refresh_index(thread)
    folder = desk.folder(thread)
    meta = json.loads((folder / "meta.json").read_text())
    assert meta.keys() >= META
    assert (meta["title"], meta["channel"], meta["status"]) == ("Names", "wechat", "idle")
    files = sorted((folder / "history").rglob("*.json"))
    store8 = desk.store.store_id.replace("-", "")[:8]
    assert [path.relative_to(folder).parts[:3] for path in files] == [("history", store8, "0000")] * 2
    for n, path in enumerate(files, 1):
        node = json.loads(path.read_text())
        assert path.name == f"{n:06d}-{node['id']}.json"
        told = (node["id"], node["parentId"], node["parentDigest"], node["ts"], node["type"])
        assert node_digest(*told, canonical(node["payload"])) == node["digest"]
    assert meta["head_id"] == json.loads(files[-1].read_text())["id"]
    (record,) = (folder / "context").rglob("*.json")
    assert json.loads(record.read_text())["usage"] == {"inputTokens": 12, "outputTokens": 3}
    desk.archive.write_index()
    assert registry.summaries(desk.archive.layout)[thread]["preview"] == "hello"
    assert registry.locations(desk.archive.layout) == {thread: thread}


@pytest.mark.parametrize("damage", [None, b"", b"{half", b"[]", b'{"sessions": {"a": 1}}'])
def test_a_registry_that_cannot_be_read_is_made_again(desk: Desk, damage: bytes | None) -> None:
    """From every `meta.json` and every repository that is there."""
    thread = desk.thread(title="Kept")
    desk.turn(thread)
    desk.archive.commit(thread, rest=False)
    desk.archive.write_index()
    for path in (desk.archive.layout.index, desk.archive.layout.locations):
        os.unlink(path)
        if damage is not None:
            Path(path).write_bytes(damage)
    assert registry.summaries(desk.archive.layout)[thread]["title"] == "Kept"
    assert registry.locations(desk.archive.layout) == {thread: thread}


def test_git_status_is_clean_whatever_the_user_configured(desk: Desk, tmp_path: Path, monkeypatch: Any) -> None:
    """No hook, filter, template or setting of the user's acts on a session, and none is changed."""
    home = tmp_path / "home"
    (home / "templates" / "hooks").mkdir(parents=True)
    (home / "templates" / "hooks" / "post-commit").write_text("#!/bin/sh\ntouch $HOME/ran\n")
    settings = (
        "[core]\n autocrlf = true\n hooksPath = ~/templates/hooks\n attributesFile = ~/attributes\n"
        '[init]\n templateDir = ~/templates\n[filter "shout"]\n clean = touch ~/ran; tr a-z A-Z\n'
    )
    (home / ".gitconfig").write_text(settings)
    (home / "attributes").write_text("* filter=shout text\n")
    monkeypatch.setenv("HOME", str(home))
    thread = desk.thread()
    desk.turn(thread, "line one\r\nline two")
    desk.archive.commit(thread, rest=False)
    desk.archive.refresh_index(thread)
    assert desk.git(thread, "status", "--porcelain") == ""
    assert not (home / "ran").exists()
    assert not (desk.folder(thread) / ".git" / "hooks").exists()
    assert (home / ".gitconfig").read_text() == settings


def test_what_changes_without_a_turn_is_one_commit_of_no_turn(desk: Desk) -> None:
    """A tombstone, its undo and a new title; a look that finds nothing changed commits nothing."""
    thread = desk.thread()
    desk.turn(thread)
    desk.archive.commit(thread, rest=True)

    def mark(deleted: int) -> Any:
        def do(tx: Tx) -> str:
            row = threads.live(tx, thread)
            assert row.leaf is not None
            tx.run(tree.sql.set_deleted, (deleted, row.leaf))
            row.touch()
            return str(row.leaf_id)

        return do

    node = desk.do(mark(1))
    desk.archive.refresh_index(thread)
    (path,) = (desk.folder(thread) / "history").rglob(f"*-{node}.json")
    for deleted in (True, False):
        step = desk.archive.commit(thread, rest=True)
        desk.archive.refresh_index(thread)
        assert step is not None
        assert [commit.turn_id for commit in step.commits] == [None]
        assert json.loads(path.read_text()).get("deleted", False) is deleted
        again = desk.archive.commit(thread, rest=True)
        assert again is not None
        assert again.commits == []
        if deleted:
            desk.do(mark(0))
    desk.archive.refresh_index(thread)
    assert desk.git(thread, "status", "--porcelain") == ""


def test_a_repository_that_is_gone_or_unreadable_is_committed_anew(desk: Desk) -> None:
    """The store is the live copy; the unreadable `.git` is put aside, not thrown away."""
    thread = desk.thread()
    for n in range(3):
        desk.turn(thread, f"question {n}")
    desk.archive.commit(thread, rest=True)
    folder = desk.folder(thread)
    for path in (folder / ".git" / "objects" / "pack").iterdir():
        path.write_bytes(b"")
    desk.turn(thread, "after the damage")
    desk.archive = desk.fresh()
    desk.archive.commit(thread, rest=True)
    assert desk.git(thread, "fsck", "--full") == ""
    assert len(desk.git(thread, "ls-tree", "-r", "--name-only", "HEAD", "history").splitlines()) == 8
    assert (folder / ".git.unreadable").is_dir()


def test_a_purged_session_leaves_nothing(desk: Desk) -> None:
    """Repository, location, row of the index and intent are gone, also when a death came after the intent."""
    thread = desk.thread()
    desk.turn(thread)
    desk.archive.commit(thread, rest=True)
    desk.archive.write_index()
    folder = desk.folder(thread)
    desk.do(lambda tx: purge.thread(tx, threads.live(tx, thread)))
    assert desk.archive.purge() == 1
    desk.archive.write_index()
    assert not folder.exists()
    assert os.listdir(desk.archive.layout.deleted) == []
    assert registry.locations(desk.archive.layout) == {}
    assert registry.summaries(desk.archive.layout) == {}
    assert desk.archive.purge() == 0


def test_many_packs_become_few(desk: Desk) -> None:
    """After 70 turns and a tidying the repository is whole, and a new archive goes on from it."""
    thread = desk.thread()
    for n in range(70):
        desk.turn(thread, f"question {n}")
        desk.archive.commit(thread, rest=False)
    assert desk.archive.tidy(thread) == 70
    assert len(list((desk.folder(thread) / ".git" / "objects" / "pack").glob("*.pack"))) == 1
    desk.archive = desk.fresh()
    desk.turn(thread, "one more")
    desk.archive.commit(thread, rest=False)
    assert desk.git(thread, "fsck", "--full", "--strict") == ""
    assert desk.git(thread, "rev-list", "--count", "HEAD") == "71"


def test_a_state_folder_that_was_moved_away_is_not_made_again(desk: Desk) -> None:
    """There is nothing to archive any more, and what takes its place is not ours."""
    thread = desk.thread()
    desk.turn(thread)
    state = Path(desk.store.places.state)
    state.rename(state.with_name("gone"))
    with pytest.raises(FileNotFoundError):
        desk.archive.commit(thread, rest=False)
    assert not state.exists()


#: The calls after which a death is tried, by the place that makes them.
KILLED = """
import os, sys
from sidekeep.model.places import Places
from sidekeep.sessions.archive import Archive
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store

state, thread, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_store(Places(state))
doorway = Doorway(store)
archive = Archive(store.places, doorway.run, doorway.run, print)
calls = 0

def dying(real):
    def call(*words, **more):
        global calls
        calls += 1
        if calls == at:
            os._exit(9)
        return real(*words, **more)
    return call

for name in ("open", "write", "replace", "makedirs", "rename"):
    setattr(os, name, dying(getattr(os, name)))
import builtins
builtins.open = dying(builtins.open)
archive._write = dying(archive._write)
archive.commit(thread, rest=True)
archive.refresh_index(thread)
print(calls)
"""


def test_a_death_at_every_step_leaves_each_turn_one_commit(desk: Desk) -> None:
    """The process ends before each of its writes in turn; the next one completes what it left, without a lock."""
    at, ended = 1, False
    while not ended:
        thread = desk.thread()
        turns = [desk.turn(thread, "first"), desk.turn(thread, "second")]
        words = [sys.executable, "-c", KILLED, desk.store.places.state, thread, str(at)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 9), done.stderr
        ended = done.returncode == 0
        desk.archive = desk.fresh()
        desk.archive.commit(thread, rest=True)
        desk.archive.refresh_index(thread)
        folder = desk.folder(thread)
        assert [turn for _, turn in _commits(desk, thread)] == turns[::-1], at
        assert desk.git(thread, "log", "--format=%H").split() == [commit for commit, _ in _commits(desk, thread)], at
        assert desk.git(thread, "status", "--porcelain") == "", at
        assert list((folder / ".git").rglob("*.lock")) == []
        assert gitdir.head(str(folder)) == _commits(desk, thread)[0][0]
        at += 1
    assert at > 25, "the death was tried at too few places"
