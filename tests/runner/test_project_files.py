"""Models at work in a project's folder, and rewinds: only recorded files are touched, and all of it can be undone."""

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from runner.conftest import Desk, told
from support.runners import kill_runner, until
from support.steered import Steered

NOTES = "# Notes\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the user's under their own Git, with a change that is staged, one that is not, and a stash."""
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "notes.md").write_text(NOTES)
    (root / "src" / "a.txt").write_text("a\n")
    os.symlink("/etc/passwd", root / "passwd")
    os.symlink("/etc", root / "etc")
    for words in (
        ["init", "-q"], ["add", "-A"], ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qm", "first"],
    ):  # fmt: skip
        subprocess.run(["git", "-C", root, *words], check=True)
    (root / "src" / "a.txt").write_text("stashed\n")
    subprocess.run(["git", "-C", root, "-c", "user.name=u", "-c", "user.email=u@x", "stash", "-q"], check=True)
    (root / "staged.txt").write_text("staged\n")
    subprocess.run(["git", "-C", root, "add", "staged.txt"], check=True)
    (root / "untracked.txt").write_text("untracked\n")
    return root


def of_git(root: Path) -> dict[str, bytes]:
    """Every byte below the user's own `.git`."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted((root / ".git").rglob("*")) if path.is_file()
    }


def contents(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*"))
            if ".git" not in path.parts and path.is_file() and not path.is_symlink()}  # fmt: skip


@pytest.fixture
def bound(desk: Desk, folder: Path) -> Desk:
    """A conversation of the folder's project."""
    project = desk.host.ack("project.create", path=str(folder))["projectId"]
    desk.thread = str(desk.host.ack("thread.create", projectId=project)["threadId"])
    desk.host.query("thread.subscribe", threadId=desk.thread)
    return desk


def turn(desk: Desk, far: Steered, words: str, *calls: tuple[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """One turn that makes these calls one after another; what each gave, and the acknowledgement."""
    ack = desk.ask(words, policy="auto")
    results: list[str] = []
    for each in calls:
        far.call().use(each)
    call = far.call()
    results = told(call)[-len(calls) :] if calls else []
    call.say("Done.")
    call.end()
    assert desk.ended(ack) == "end"
    return results, ack


def job(desk: Desk, op: str, **members: Any) -> dict[str, Any]:
    made = desk.host.ack(op, threadId=desk.thread, **members)["jobId"]
    done = desk.host.event("job.done", jobId=made, timeout=30)
    assert "code" not in done, done
    return dict(done["data"])


def test_tools_are_offered_where_there_is_a_folder(desk: Desk, bound: Desk, far: Steered, folder: Path) -> None:
    """A conversation without a project has none of them; a folder that is gone is said to be gone."""
    ack = bound.ask("What is there?")
    call = far.call()
    assert {"list_files", "read_file", "write_file"} <= set(call.tools)
    folder.rename(folder.parent / "away")
    call.use(("list_files", {}))
    call = far.call()
    assert "folder of this conversation's project is gone" in told(call)[-1]
    call.end()
    bound.ended(ack)
    other = desk.new_thread()
    desk.thread = other
    desk.ask("And here?")
    call = far.call()
    assert not {"list_files", "read_file", "write_file"} & set(call.tools)
    call.end()


def test_a_file_is_listed_read_and_written(bound: Desk, far: Steered, folder: Path) -> None:
    """Read before write, and refused when it was changed since by anybody; links lead nowhere (E66)."""
    before = of_git(folder)
    results, _ = turn(
        bound, far, "Work",
        ("list_files", {}),
        ("write_file", {"path": "notes.md", "content": "over"}),
        ("read_file", {"path": "notes.md"}),
        ("write_file", {"path": "notes.md", "content": "# Mine\n"}),
        ("write_file", {"path": "new/deep/b.txt", "content": "b\n"}),
        ("read_file", {"path": "nowhere.txt"}),
    )  # fmt: skip
    assert "notes.md (8 bytes)" in results[0]
    assert "src/" in results[0]
    assert "passwd" not in results[0]
    assert ".git" not in results[0]
    assert results[1].startswith("NEVER_READ")
    assert "# Notes" in results[2]
    assert results[3].startswith("Wrote notes.md")
    assert results[4].startswith("Made new/deep/b.txt")
    assert results[5].startswith("There is no file")
    (folder / "notes.md").write_text("by the user\n")
    results, _ = turn(bound, far, "Again", ("write_file", {"path": "notes.md", "content": "x"}))
    assert results[0].startswith("STALE")
    assert (folder / "notes.md").read_text() == "by the user\n"
    assert of_git(folder) == before


@pytest.mark.parametrize(
    "path",
    ["../out.txt", "/etc/passwd", "passwd", "etc/passwd", "a/../../x", ".git/hooks/pre-commit", ".GIT/config", "a\\b",
     "con", "src/aux.txt", "x\u0000y", "src/", "src//a.txt", "./notes.md", "src/a.txt/b", "c:stream", "git~1/../x",
     ".git./config"],
)  # fmt: skip
def test_no_way_leads_out(bound: Desk, far: Steered, folder: Path, path: str) -> None:
    """Neither by `..`, nor by a link, a device's name, or into the user's own Git."""
    before, outside = contents(folder), sorted(folder.parent.iterdir())
    results, _ = turn(
        bound, far, "Try", ("write_file", {"path": path, "content": "evil"}), ("read_file", {"path": path})
    )
    assert "evil" not in results[0]
    assert "root:" not in results[1]
    assert contents(folder) == before
    assert sorted(folder.parent.iterdir()) == outside
    assert Path("/etc/passwd").read_text() != "evil"


def test_a_rewind_puts_files_and_head_back_and_can_be_undone(bound: Desk, far: Steered, folder: Path) -> None:
    """The exact list first; only recorded files; the user's repository and stash stay as they were (E66, E67, E68)."""
    start, git = contents(folder), of_git(folder)
    turn(bound, far, "Nothing")
    _, ack = turn(
        bound, far, "One", ("read_file", {"path": "notes.md"}), ("write_file", {"path": "notes.md", "content": "1"}),
        ("write_file", {"path": "made.txt", "content": "made"}),
    )  # fmt: skip
    turn(bound, far, "Two", ("write_file", {"path": "notes.md", "content": "2"}))
    (folder / "mine.txt").write_text("mine\n")
    (folder / "made.txt").write_text("made, and edited by the user")
    after = contents(folder)
    wanted = [
        {"path": "made.txt", "action": "delete", "turnId": ack["turnId"], "changedSince": True},
        {"path": "notes.md", "action": "restore", "turnId": ack["turnId"]},
    ]
    listed = job(bound, "session.rewind", nodeId=ack["userNodeId"], dryRun=True)
    assert (listed["files"], listed["text"]) == (wanted, "One")
    assert "undoId" not in listed
    assert contents(folder) == after
    nodes = [node["id"] for node in bound.snapshot()["nodes"]]  # type: ignore[attr-defined]
    done = job(bound, "session.rewind", nodeId=ack["userNodeId"])
    assert done["files"] == wanted
    assert contents(folder) == {**start, "mine.txt": "mine\n"}
    shown = [node["id"] for node in bound.snapshot()["nodes"]]  # type: ignore[attr-defined]
    assert shown == nodes[: nodes.index(ack["userNodeId"])]
    undone = job(bound, "session.undoRewind", undoId=done["undoId"])
    assert {each["path"] for each in undone["files"]} == {"made.txt", "notes.md"}
    assert contents(folder) == after
    assert [node["id"] for node in bound.snapshot()["nodes"]] == nodes  # type: ignore[attr-defined]
    only_head = job(bound, "session.rewind", nodeId=ack["userNodeId"], files=False)
    assert only_head["files"] == []
    assert contents(folder) == after
    assert of_git(folder) == git


def test_a_rewind_is_refused_while_a_turn_runs_and_for_what_is_no_message(bound: Desk, far: Steered) -> None:
    """`run_active`; a node that is no question of the user's, or not there."""
    _, ack = turn(bound, far, "One")
    answer = bound.snapshot()["nodes"][-1]["id"]  # type: ignore[index]
    made = bound.host.ack("session.rewind", threadId=bound.thread, nodeId=answer)["jobId"]
    assert bound.host.event("job.done", jobId=made)["code"] == "invalid_command"
    lost = bound.host.ack("session.undoRewind", threadId=bound.thread, undoId=made)["jobId"]
    assert bound.host.event("job.done", jobId=lost)["code"] == "not_found"
    bound.ask("Two")
    call = far.call()
    for op, members in (("session.rewind", {"nodeId": ack["userNodeId"]}), ("session.undoRewind", {"undoId": made})):
        assert bound.host.refused(op, threadId=bound.thread, **members)["code"] == "run_active"
    call.end()


def test_the_first_message_can_be_taken_back(bound: Desk, far: Steered) -> None:
    """Then only a notice is shown, and everything is still there after the undo."""
    _, ack = turn(bound, far, "One")
    done = job(bound, "session.rewind", nodeId=ack["userNodeId"])
    assert done["headId"] is None
    (notice,) = bound.snapshot()["nodes"]  # type: ignore[misc]
    assert notice["payload"]["code"] == "rewound"
    job(bound, "session.undoRewind", undoId=done["undoId"])
    assert bound.snapshot()["nodes"][0]["id"] == ack["userNodeId"]  # type: ignore[index]


@pytest.mark.parametrize("number", range(3))
def test_a_death_in_the_middle_of_a_rewind(bound: Desk, far: Steered, folder: Path, number: int) -> None:
    """It goes on with the next runner: everything is back, and the undo brings everything forth."""
    start = contents(folder)
    calls = [("write_file", {"path": f"f{n}.txt", "content": "x" * 200_000}) for n in range(12)]
    _, ack = turn(bound, far, "Many", *calls)
    after = contents(folder)
    made = bound.host.ack("session.rewind", threadId=bound.thread, nodeId=ack["userNodeId"])["jobId"]
    time.sleep(0.02 + 0.04 * number)  # the moment of the death
    kill_runner(bound.store.state)
    done = bound.host.event("job.done", jobId=made, timeout=30)
    assert len(done["data"]["files"]) == 12
    assert contents(folder) == start
    job(bound, "session.undoRewind", undoId=done["data"]["undoId"])
    assert contents(folder) == after


def test_a_write_that_a_death_cut_off_is_done_once(bound: Desk, far: Steered, folder: Path) -> None:
    """The tool looks at what is there: the file has the content, the recovery the first state, the run its end."""
    ack = bound.ask("Write", policy="auto")
    far.call().use(("read_file", {"path": "notes.md"}))
    far.call().use(("write_file", {"path": "notes.md", "content": "new"}))
    kill_runner(bound.store.state)
    run = lambda: bound.host.query("run.get", runId=ack["runId"])["run"]["state"]  # noqa: E731
    until(lambda: run() == "interrupted" or len(far.calls) > 2, "what became of the call")
    if run() == "interrupted":  # cut off before the call was whole: asked again
        bound.host.ack("run.resume", threadId=bound.thread, runId=ack["runId"])
    call = far.call()
    while not any(result.startswith(("Wrote", "notes.md has")) for result in told(call)):
        call.use(("write_file", {"path": "notes.md", "content": "new"}))
        call = far.call()
    call.end()
    assert bound.ended(ack) == "end"
    assert (folder / "notes.md").read_text() == "new"
    job(bound, "session.rewind", nodeId=ack["userNodeId"])
    assert (folder / "notes.md").read_text() == NOTES
