"""Synchronisation over a Git remote: what two machines wrote while apart is on both afterwards, node for node."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessions.conftest import Desk
from sessions.test_rebuild import grow, held, send_file
from sidekeep.model.errors import InvalidCommand, NeedsPermission, NotFound, SidekeepError
from sidekeep.sessions import remote as remotes
from sidekeep.sessions.remote import Cancelled, checked
from sidekeep.sessions.sync import Report, Sync
from sidekeep.store import purge, sync_state, threads, trash, tree
from sidekeep.store.tx import Tx
from sidekeep.store.verify import verify
from support.stores import text

TESTS = Path(__file__).parents[1]


def sync(desk: Desk, remote: Path | str, cancelled: Callable[[], bool] = lambda: False) -> Report:
    """One synchronisation in this process."""
    work = Sync(desk.store.places, desk.doorway.run, desk.doorway.run, desk.log.append, cancelled=cancelled)
    return work.run(str(remote))


def shared(desk: Desk) -> dict[str, Any]:
    """What has to be equal on all machines: per session ids, parents, digests, tombstones, files, and its fields."""
    found = {}
    for name, (row, nodes, files) in held(desk.store.db).items():
        # Title, its source, the time of making, pin, archive, tags, group, source, agent, channel, project, trash.
        found[name] = (row[:12], [node[:6] for node in nodes], [file[:3] for file in files])
    return found


def wrong(desk: Desk) -> list[str]:
    """What verify finds, but for the runs, which these tests write without an environment."""
    return [found.message for found in verify(desk.store.db, deep=True).findings if found.code != "snapshot_damaged"]


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository in a folder."""
    path = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    return path


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Desk]:
    """A second machine."""
    found = Desk(tmp_path / "other")
    yield found
    found.close()


def branches(remote: Path) -> dict[str, str]:
    words = ["git", "-C", str(remote), "for-each-ref", "--format=%(refname) %(objectname)"]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in out.splitlines())


def test_a_session_reaches_the_other_machine_and_comes_back(desk: Desk, other: Desk, remote: Path) -> None:
    """A branch for each session; files travel; what was added on both sides while apart is united; then it is quiet."""
    thread = desk.thread(title="Tide pools")
    desk.turn(thread, "one")
    file = send_file(desk, thread, random.Random(3).randbytes(600_000), "pool.bin")
    first = sync(desk, remote)
    assert (first.sessions, first.sent, first.faults) == (1, 1, {})
    assert list(branches(remote)) == [f"refs/heads/sessions/{thread}"]
    got = sync(other, remote)
    assert (got.received, got.uploads, got.sent, got.faults) == (1, 1, 0, {})
    assert shared(other) == shared(desk)
    row = other.store.db.execute("SELECT status, unread, (SELECT id FROM nodes WHERE k = leaf) FROM threads").fetchone()
    assert row is not None
    assert row[:2] == ("idle", 0)
    assert row[2] == desk.store.db.execute("SELECT id FROM nodes ORDER BY k DESC LIMIT 1").fetchone()[0]  # type: ignore[index]
    assert other.store.db.execute("SELECT state, provenance FROM attachments WHERE id = ?", (file,)).fetchone() == (
        "stored", "user")  # fmt: skip
    desk.turn(thread, "here")
    other.turn(thread, "there")
    other.do(lambda tx: threads.live(tx, thread).set("title", "Pools"))
    leaf = desk.store.db.execute("SELECT leaf FROM threads").fetchone()
    for each in (desk, other, desk):
        assert sync(each, remote).faults == {}
    assert shared(other) == shared(desk)
    assert shared(desk)[thread][0][0] == "Pools"
    assert desk.store.db.execute("SELECT leaf FROM threads").fetchone() == leaf
    before = branches(remote)
    for each in (desk, other, desk, other):
        quiet = sync(each, remote)
        assert (quiet.sent, quiet.received, quiet.nodes, quiet.faults) == (0, 0, 0, {})
        each.archive.refresh_index(thread)
        assert each.git(thread, "status", "--porcelain") == ""
        assert each.git(thread, "fsck", "--strict") == ""
        assert wrong(each) == []
    assert branches(remote) == before
    assert not (Path(desk.store.places.sessions) / ".sync" / "x").exists()
    # The archive has nothing to add to what came.
    assert desk.archive.commit(thread, rest=True).commits == []  # type: ignore[union-attr]


def test_tombstones_and_fields_are_registers(desk: Desk, other: Desk, remote: Path) -> None:
    """A change on one side is taken; of two the later one; what is each store's own does not travel."""
    thread = desk.thread(title="T")
    for words in ("a", "b"):
        desk.turn(thread, words)
    for each in (desk, other):
        sync(each, remote)
    (first, second) = (row[0] for row in desk.store.db.execute(
        "SELECT id FROM nodes WHERE type = 'user_message' ORDER BY k"))  # fmt: skip

    def mark(each: Desk, node: str, deleted: int) -> None:
        each.do(lambda tx: tx.run("UPDATE nodes SET deleted = ? WHERE id = ?", (deleted, node)))
        each.do(lambda tx: threads.live(tx, thread).touch())

    mark(desk, first, 1)
    mark(other, second, 1)
    desk.do(lambda tx: threads.live(tx, thread).set("pinned", 1))
    other.do(lambda tx: threads.live(tx, thread).set("tags", '["x"]'))
    desk.do(lambda tx: threads.live(tx, thread).set("unread", 1))
    for each in (desk, other, desk):
        assert sync(each, remote).faults == {}
    assert shared(desk) == shared(other)
    assert set(desk.store.db.execute("SELECT id FROM nodes WHERE deleted = 1")) == {(first,), (second,)}
    assert other.store.db.execute("SELECT pinned, tags, unread FROM threads").fetchall() == [(1, '["x"]', 0)]
    assert desk.store.db.execute("SELECT unread FROM threads").fetchone() == (1,)
    mark(other, first, 0)
    for each in (other, desk):
        sync(each, remote)
    assert desk.store.db.execute("SELECT id FROM nodes WHERE deleted = 1").fetchall() == [(second,)]
    desk.do(lambda tx: trash.delete(tx, threads.live(tx, thread)))
    for each in (desk, other):
        sync(each, remote)
    assert other.store.db.execute("SELECT deleted_at IS NOT NULL FROM threads").fetchone() == (1,)


def test_what_is_removed_for_good_stays_gone(desk: Desk, other: Desk, remote: Path) -> None:
    """On the branch only `purged.json` is left; elsewhere the session goes to the trash, and never comes back."""
    thread, kept = desk.thread(title="secret"), desk.thread(title="kept")
    for each in (thread, kept):
        desk.turn(each, "words")
    for each in (desk, other):
        sync(each, remote)
    desk.do(lambda tx: purge.thread(tx, threads.live(tx, thread)))
    desk.archive.purge()
    report = sync(desk, remote)
    assert (report.removed, report.faults) == (1, {})
    files = subprocess.run(["git", "-C", remote, "ls-tree", "-r", "--name-only", f"sessions/{thread}"],
                           capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert files == "purged.json\n"
    assert sync(other, remote).removed == 1
    assert other.store.db.execute("SELECT id FROM threads WHERE deleted_at IS NOT NULL").fetchall() == [(thread,)]
    for each in (desk, other, desk):
        quiet = sync(each, remote)
        assert (quiet.sent, quiet.received, quiet.removed, quiet.faults) == (0, 0, 0, {})
    assert list(shared(desk)) == [kept]


def test_a_remote_is_not_believed(desk: Desk, other: Desk, remote: Path, tmp_path: Path) -> None:
    """Forged nodes, links, other sessions' ids and unreadable files are named and left out; the rest comes."""
    thread = desk.thread(title="T")
    desk.turn(thread, "true")
    sync(desk, remote)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "-b", f"sessions/{thread}", str(remote), str(clone)], check=True)
    (path,) = list(clone.glob("history/*/*/*.json"))[:1]
    store, hundreds = path.parts[-3:-1]
    forged = path.with_name("000090-00000000-0000-4000-8000-000000000009.json")
    forged.write_text(path.read_text().replace("true", "forged"))
    (clone / "history" / store / hundreds / "000091-x.json").write_text("{")
    os.symlink("/etc/passwd", clone / "history" / store / hundreds / "000092-00000000-0000-4000-8000-00000000000a.json")
    (clone / "history" / "zzzz").mkdir()
    (clone / "history" / "zzzz" / "file").write_text("x")
    (clone / "workdir" / "attachments" / "..x").mkdir(parents=True)
    (clone / "workdir" / "attachments" / "..x" / "con").write_text("x")
    (clone / "evil").write_text("x")
    for words in (["add", "-A"], ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "Position: x"],
                  ["push", "-q", "origin", f"HEAD:sessions/{thread}"]):  # fmt: skip
        subprocess.run(["git", "-C", clone, *words], check=True)
    report = sync(other, remote)
    faults = " ".join(report.faults[thread])
    for named in ("000090", "000091", "000092", "..x"):
        assert named in faults
    assert {row[0] for row in other.store.db.execute("SELECT id FROM nodes")} == {
        row[0] for row in desk.store.db.execute("SELECT id FROM nodes")
    }
    assert wrong(other) == []
    assert not os.path.lexists(other.folder(thread) / "history" / store / hundreds / "000092-x")


@pytest.mark.parametrize(
    "url",
    ["", "-u", "--upload-pack=touch /tmp/x", "ext::sh -c id", "relative/path", "http://example.org/x", "git://h/x",
     "https://user:secret@example.org/x", "ssh://-oProxyCommand=id/x", "https:///x", "a\nb", "fd::17", "-host:path"],
)  # fmt: skip
def test_what_is_no_remote_is_refused(url: str) -> None:
    """Options, programs, passwords and plain http never reach git; the words do not repeat a password."""
    with pytest.raises(InvalidCommand) as caught:
        checked(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["/a/b", "https://example.org/x.git", "ssh://git@h:22/x", "git@host:path/x", "file:///x",
                                 "http://127.0.0.1:80/x"])  # fmt: skip
def test_what_is_a_remote_is_taken(url: str) -> None:
    assert checked(f" {url} ") == url


def test_a_remote_that_refuses_is_said_in_a_sentence(desk: Desk, remote: Path, tmp_path: Path) -> None:
    """Nothing is lost, and the next time it goes on."""
    thread = desk.thread(title="T")
    desk.turn(thread, "one")
    with pytest.raises(NotFound, match="no Git repository"):
        sync(desk, tmp_path / "nowhere")
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    hook.chmod(0o755)
    report = sync(desk, remote)
    assert "declined" in report.faults[thread][0]
    assert report.sent == 0
    hook.unlink()
    assert sync(desk, remote).sent == 1
    with pytest.raises(Cancelled):
        sync(desk, remote, cancelled=lambda: True)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("fatal: Authentication failed for 'https://h/'", NeedsPermission),
        ("git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.", NeedsPermission),
        ("fatal: repository 'https://h/x' not found", NotFound),
        ("fatal: unable to access 'https://h/': Could not resolve host: h", SidekeepError),
    ],
)
def test_what_git_says_is_understood(said: str, error: type[SidekeepError]) -> None:
    assert isinstance(remotes.explained(said), error)


def test_nothing_of_the_users_configuration_runs(
    desk: Desk, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks, aliases, url rewriting and templates of theirs stay out; their credential helpers are passed on."""
    home = tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    for name in ("pre-push", "post-checkout", "reference-transaction"):
        (home / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (home / "hooks" / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {home}/hooks\n[url \"{tmp_path}/elsewhere\"]\n\tinsteadOf = {remote}\n"
        "[credential]\n\thelper = store\n[credential \"https://h\"]\n\tusername = me\n"
    )  # fmt: skip
    monkeypatch.setenv("HOME", str(home))
    thread = desk.thread(title="T")
    desk.turn(thread, "one")
    assert sync(desk, remote).sent == 1
    assert not (tmp_path / "ran").exists()
    helpers = remotes.Remote(str(remote))._helpers()
    assert helpers[-4:] == ["-c", "credential.helper=store", "-c", "credential.https://h.username=me"]


def test_many_sessions_share_few_connections(
    desk: Desk, other: Desk, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """150 sessions need three pushes, not 150; what did not change costs one look."""
    made = [desk.thread(title=f"No. {number}") for number in range(150)]
    desk.turn(made[0], "one")
    calls: list[str] = []
    run = remotes.Remote._git

    def counted(self: remotes.Remote, hub: str, *words: str, **more: Any) -> str:
        calls.append(words[0])
        return run(self, hub, *words, **more)

    monkeypatch.setattr(remotes.Remote, "_git", counted)
    assert sync(desk, remote).sent == 150
    assert calls == ["ls-remote", "push", "push", "push"]
    calls.clear()
    assert sync(other, remote).received == 150
    assert calls == ["ls-remote", "fetch", "fetch", "fetch"]
    calls.clear()
    desk.turn(made[7], "more")
    assert sync(desk, remote).sent == 1
    assert calls == ["ls-remote", "push"]
    assert desk.doorway.run(lambda tx: sync_state.ahead(tx, str(remote))) == 0
    desk.turn(made[8], "more")
    assert desk.doorway.run(lambda tx: sync_state.ahead(tx, str(remote))) == 1


KILLED = (
    "import sys; sys.path[:0] = [sys.argv[3]]\n"
    "from pathlib import Path\n"
    "from sessions.conftest import Desk\n"
    "from sessions.test_sync import sync\n"
    "sync(Desk(Path(sys.argv[1])), sys.argv[2])\n"
)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("edits", "rounds", "kills"), [(16, 3, 3), pytest.param(200, 20, 20, marks=pytest.mark.long)])
def test_two_machines_and_kills_end_with_the_union(
    tmp_path: Path, remote: Path, edits: int, rounds: int, kills: int
) -> None:
    """Random edits on both sides between rounds, synchronisations killed in the middle: both have everything."""
    dice = random.Random(rounds)
    sides = [tmp_path / "left", tmp_path / "right"]
    every: set[str] = set()
    for number in range(rounds):
        for side in sides:
            desk = Desk(side)
            try:
                names = [name for (name,) in desk.store.db.execute("SELECT id FROM threads WHERE deleted_at IS NULL")]
                for _ in range(max(1, edits // rounds // 5)):
                    if not names or dice.random() < 0.2:
                        names.append(desk.thread(title=f"{side.name} {number}"))
                    thread = dice.choice(names)
                    desk.turn(thread, f"{side.name} {number}")
                    grow(desk, thread, dice, 4)
                every |= {name for (name,) in desk.store.db.execute("SELECT id FROM nodes")}
            finally:
                desk.close()
        for index, side in enumerate(sides):
            if number * kills // rounds != (number + 1) * kills // rounds and index == number % 2:
                process = subprocess.Popen([sys.executable, "-c", KILLED, side, remote, TESTS], start_new_session=True)
                time.sleep(dice.uniform(0.2, 1.2))
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            desk = Desk(side)
            try:
                assert sync(desk, remote).faults == {}
            finally:
                desk.close()
    left, right = Desk(sides[0]), Desk(sides[1])
    try:
        for desk in (left, right, left):
            assert sync(desk, remote).faults == {}
        assert shared(left) == shared(right)
        assert {name for (name,) in left.store.db.execute("SELECT id FROM nodes")} == every
        for desk in (left, right):
            assert wrong(desk) == []
            quiet = sync(desk, remote)
            assert (quiet.sent, quiet.received) == (0, 0)
    finally:
        left.close()
        right.close()


def test_a_running_turn_is_not_disturbed(desk: Desk, other: Desk, remote: Path) -> None:
    """Nodes that come go beside it: the cursor stays, and the run appends after its own last node."""
    thread = desk.thread(title="T")
    desk.turn(thread, "one")
    for each in (desk, other):
        sync(each, remote)
    other.turn(thread, "there")
    sync(other, remote)

    def begin(tx: Tx) -> None:
        row = threads.live(tx, thread)
        tree.append(tx, row, row.leaf, "user_message", text("running"))
        row.set("status", "running")

    desk.do(begin)
    leaf = desk.store.db.execute("SELECT leaf FROM threads").fetchone()
    assert sync(desk, remote).faults == {}
    assert desk.store.db.execute("SELECT leaf, status FROM threads").fetchone() == (leaf[0], "running")  # type: ignore[index]
    sync(other, remote)
    assert shared(desk)[thread][1] == shared(other)[thread][1]
