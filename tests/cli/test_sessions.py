"""`sidekeep sessions` and `sidekeep projects`: repositories and folders from the shell."""

import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path

from support.runners import until
from support.stores import Store, text

EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}


def test_lists_and_leads_to_the_repositories(running_store: Store, sidekeep: Callable) -> None:
    """Each turn is a commit; the path is a repository that the git program reads."""
    host = running_store.open()
    thread = host.ack("thread.create", title="Tide \x1b[31mpools")["threadId"]
    assert "not all is committed yet" in sidekeep("sessions", "list").out
    assert sidekeep("sessions", "path", thread).status == 1
    assert sidekeep("sessions", "commits", thread).out.startswith("Nothing is committed yet")
    host.query("thread.subscribe", threadId=thread)
    turn = host.ack("turn.submit", threadId=thread, input=text("What lives there?"), overrides=EXTRACT)["turnId"]
    host.event("turn.complete", turnId=turn)
    until(lambda: host.query("session.commits", threadId=thread)["commits"], "the turn's commit")
    found = sidekeep("sessions", "commits", thread[:8], "--json")
    assert found.document == host.query("session.commits", threadId=thread)
    assert found.document["commits"][-1]["turnId"] == turn
    assert "Turn 1: What lives there?" in sidekeep("sessions", "commits", thread).out
    folder = sidekeep("sessions", "path", thread).out.strip()
    assert sidekeep("sessions", "path", thread, "--json").document == {"id": thread, "path": folder}
    log = subprocess.run(["git", "-C", folder, "log", "--format=%H"], capture_output=True, text=True, check=True).stdout
    assert log.split() == [commit["id"] for commit in found.document["commits"]]
    (row,) = sidekeep("sessions", "list", "--json").document["sessions"]
    assert (row["id"], row["path"], row["commits"], row["head"]) == (thread, folder, 1, log.strip())
    assert "\x1b" not in sidekeep("sessions", "list").out


def test_no_store_is_no_fault_for_a_list(sidekeep: Callable, tmp_path: Path) -> None:
    """And none is made by looking."""
    nowhere = tmp_path / "nowhere"
    assert sidekeep("sessions", "list", "--json", state=nowhere).document == {"sessions": []}
    assert sidekeep("projects", "list", "--json", state=nowhere).document == {"projects": []}
    assert sidekeep("sessions", "commits", str(uuid.uuid4()), state=nowhere).status == 1
    assert not nowhere.exists()


def test_projects_are_made_listed_and_relocated(store: Store, sidekeep: Callable, tmp_path: Path) -> None:
    """A panel hears of it; a folder that is gone is said to be missing; what is wrong is said in a sentence."""
    host = store.open()
    folder = tmp_path / "work" / "tide pools"
    folder.mkdir(parents=True)
    made = sidekeep("projects", "create", str(folder), "--json").document
    assert made == {"projectId": made["projectId"], "name": "tide pools", "path": str(folder)}
    assert host.event("store.changed", id=made["projectId"])["kind"] == "projects"
    assert sidekeep("projects", "list", "--json").document == host.query("project.list")
    moved = folder.parent / "moved"
    folder.rename(moved)
    assert "[missing]" in sidekeep("projects", "list").out
    assert sidekeep("projects", "relocate", made["projectId"], str(moved)).status == 0
    assert "[missing]" not in sidekeep("projects", "list").out
    wrong = sidekeep("projects", "create", str(tmp_path / "nowhere"))
    assert (wrong.status, wrong.out) == (2, "")
    assert str(tmp_path / "nowhere") in wrong.err
    assert "Traceback" not in wrong.err
    unknown = sidekeep("projects", "relocate", str(uuid.uuid4()), str(moved), "--json")
    assert (unknown.status, unknown.document["error"]["code"]) == (1, "not_found")


def test_a_lost_database_is_made_from_the_repositories(
    running_store: Store, sidekeep: Callable, tmp_path: Path
) -> None:
    """Without one it is made; beside one only when that is said, and then the old one is kept."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    turn = host.ack("turn.submit", threadId=thread, input=text("What lives there?"), overrides=EXTRACT)["turnId"]
    host.event("turn.complete", turnId=turn)
    until(lambda: host.query("session.commits", threadId=thread)["commits"], "the turn's commit")
    nodes = host.query("thread.subscribe", threadId=thread)["nodes"]
    refused = sidekeep("sessions", "rebuild", "--database", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (3, "conflict")
    up = sidekeep("sessions", "rebuild")
    assert (up.status, up.out) == (0, "1 conversations, 0 commits.\n")
    running_store.close()
    for path in running_store.state.glob("sidekeep.db*"):
        path.rename(tmp_path / path.name)
    done = sidekeep("sessions", "rebuild", "--json")
    assert (done.status, done.document["sessions"], done.document["faults"]) == (0, 1, {})
    host = running_store.open()
    again = host.query("thread.subscribe", threadId=thread)["nodes"]
    assert [(node["id"], node["payload"]) for node in again] == [(node["id"], node["payload"]) for node in nodes]
    assert sidekeep("sessions", "rebuild", state=tmp_path / "nowhere").status == 1


def test_a_message_is_taken_back_and_forth(running_store: Store, sidekeep: Callable) -> None:
    """The head moves before the message, an open panel hears of it, and the undo is printed."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    asked = []
    for words in ("one", "two"):
        ack = host.ack("turn.submit", threadId=thread, input=text(words), overrides=EXTRACT)
        host.event("turn.complete", turnId=ack["turnId"])
        asked.append(ack["userNodeId"])
    before = host.query("thread.subscribe", threadId=thread)["thread"]["leafId"]
    listed = sidekeep("sessions", "rewind", thread, asked[1], "--dry-run", "--json").document
    assert (listed["text"], listed["files"]) == ("two", [])
    assert "undoId" not in listed
    done = sidekeep("sessions", "rewind", thread, asked[1], "--json").document
    now = host.query("thread.subscribe", threadId=thread)
    assert now["thread"]["leafId"] == done["headId"] != before
    assert asked[1] not in [node["id"] for node in now["nodes"]]
    assert sidekeep("sessions", "rewind", thread, "--undo", done["undoId"]).out.startswith("Everything is as it was")
    assert host.query("thread.subscribe", threadId=thread)["thread"]["leafId"] == before
    assert sidekeep("sessions", "rewind", thread).status == 2
    assert sidekeep("sessions", "rewind", thread, "--undo", str(uuid.uuid4())).status == 1
