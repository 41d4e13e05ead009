"""Projects: one for a folder, bound before the first turn, found again after a move, never by a copy."""

import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the user's, on a disk."""
    found = tmp_path / "work" / "tide pools"
    found.mkdir(parents=True)
    (found / "notes.md").write_text("# Notes\n")
    return found


def _projects(port: HostClient) -> dict[str, dict[str, Any]]:
    return {project["id"]: project for project in port.query("project.list")["projects"]}


def _session(port: HostClient, project: str) -> str:
    """A session of the project after its first message."""
    thread = str(port.ack("thread.create", projectId=project)["threadId"])
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("first"))
    return thread


def _nodes(port: HostClient, thread: str) -> list[dict[str, Any]]:
    return list(port.query("thread.subscribe", threadId=thread)["nodes"])


def test_a_project_is_made_for_a_folder_once(port: HostClient, folder: Path) -> None:
    """The default one is always there and has no path; the same folder again, also by a link, is the same project."""
    assert _projects(port)["default"] == {"id": "default", "name": "Default"}
    made = port.ack("project.create", path=str(folder))["projectId"]
    assert port.event("store.changed", id=made)["kind"] == "projects"
    assert _projects(port)[made] == {"id": made, "name": "tide pools", "path": str(folder)}
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert port.ack("project.create", path=str(link), name="Other")["projectId"] == made
    named = port.ack("project.create", path=str(folder.parent), name="Work")["projectId"]
    assert _projects(port)[named]["name"] == "Work"
    assert list(folder.iterdir()) == [folder / "notes.md"]


@pytest.mark.parametrize("path", ["relative", "/nowhere/at/all", "notes.md", "a\0b"])
def test_what_is_no_folder_is_refused(port: HostClient, folder: Path, path: str) -> None:
    """Nothing falls back to another folder; the words name the path."""
    given = str(folder / path) if path == "notes.md" else path
    refused = port.refused("project.create", path=given)
    assert refused["code"] == "invalid_command"
    assert refused["message"].startswith("path: ")


def test_a_session_is_bound_until_its_first_turn(port: HostClient, folder: Path) -> None:
    """Frozen afterwards, the same again is fine; a project that there is not is `not_found` (B5)."""
    project = port.ack("project.create", path=str(folder))["projectId"]
    thread = port.ack("thread.create")["threadId"]
    port.ack("thread.update", threadId=thread, patch={"projectId": project})
    meta = port.query("thread.subscribe", threadId=thread)["thread"]
    assert (meta["projectId"], meta["projectName"]) == (project, "tide pools")
    assert [row["projectName"] for row in port.query("thread.list", projectId=project)["threads"]] == ["tide pools"]
    port.ack("thread.update", threadId=thread, patch={"projectId": None})
    port.ack("thread.update", threadId=thread, patch={"projectId": project})
    unknown = str(uuid.uuid4())
    assert port.refused("thread.update", threadId=thread, patch={"projectId": unknown})["code"] == "not_found"
    assert port.refused("thread.create", projectId=unknown)["code"] == "not_found"
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text("first"))
    port.ack("thread.update", threadId=thread, patch={"projectId": project})
    for other in (None, "default"):
        frozen = port.refused("thread.update", threadId=thread, patch={"projectId": other})
        assert frozen["code"] == "project_frozen"
        assert "frozen after the first turn" in frozen["message"]


def test_a_missing_folder_is_named_and_relocated(port: HostClient, folder: Path) -> None:
    """The id stays; every session that has begun says the old and the new path."""
    project = port.ack("project.create", path=str(folder))["projectId"]
    begun, fresh = _session(port, project), port.ack("thread.create", projectId=project)["threadId"]
    moved = folder.parent / "moved"
    folder.rename(moved)
    assert _projects(port)[project]["missing"] is True
    port.ack("project.relocate", projectId=project, path=str(moved))
    assert _projects(port)[project] == {"id": project, "name": "tide pools", "path": str(moved)}
    notice = _nodes(port, begun)[-1]
    assert notice["type"] == "system_notice"
    assert notice["payload"]["code"] == "project_relocated"
    assert str(folder) in notice["payload"]["text"]
    assert str(moved) in notice["payload"]["text"]
    assert _nodes(port, fresh) == []
    port.ack("project.relocate", projectId=project, path=str(moved))
    assert len(_nodes(port, begun)) == 2
    assert port.refused("project.relocate", projectId=project, path=str(folder))["code"] == "invalid_command"
    assert port.refused("project.relocate", projectId="default", path=str(moved))["code"] == "conflict"
    assert port.refused("project.relocate", projectId=str(uuid.uuid4()), path=str(moved))["code"] == "not_found"
    other = port.ack("project.create", path=str(folder.parent))["projectId"]
    assert port.refused("project.relocate", projectId=other, path=str(moved))["code"] == "conflict"


def test_a_moved_folder_is_found_again_and_a_copy_is_not(port: HostClient, folder: Path) -> None:
    """Opening the new place claims the project whose own path is gone; a copy beside a folder that is still there gets
    a project of its own."""
    try:
        os.setxattr(folder, "user.sidekeep.test", b"1")
        os.removexattr(folder, "user.sidekeep.test")
    except OSError:
        pytest.fail("the tests' temporary folder lies on a disk without extended attributes; set TMPDIR to another one")
    project = port.ack("project.create", path=str(folder))["projectId"]
    thread = _session(port, project)
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)  # takes the attributes along
    other = port.ack("project.create", path=str(copy))["projectId"]
    assert other != project
    moved = folder.parent / "moved"
    folder.rename(moved)
    assert port.ack("project.create", path=str(moved))["projectId"] == project
    assert _projects(port)[project]["path"] == str(moved)
    assert _nodes(port, thread)[-1]["payload"]["code"] == "project_relocated"
    second = folder.parent / "second copy"
    shutil.copytree(moved, second)
    shutil.rmtree(moved)
    folder.mkdir()
    assert port.ack("project.create", path=str(folder))["projectId"] not in (project, other)
    assert _projects(port)[project]["missing"] is True
