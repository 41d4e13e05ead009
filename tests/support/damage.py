"""Real stores to be damaged: made by a host's own commands, copied through SQLite, changed behind its back."""

import base64
import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import Store, open_store
from sidekeep.store.repair import Outcome, repair
from sidekeep.store.verify import Report, verify
from sidekeep.store.verify_open import to_check
from support.hostclient import HostClient
from support.stores import said, temporary_store, text

FILE = bytes(range(256)) * 1500  # two chunks, the second one short


def make_store(state: Path) -> dict[str, Any]:
    """A store with what a user makes in an afternoon; returns the ids of it by name."""
    with temporary_store(state, runner=True) as store:
        host = store.open()
        host.ack("settings.set", patch={"models.default": {"connectionId": "extract", "modelId": "extract"}})
        made: dict[str, Any] = {}
        made["talk"] = host.ack("thread.create", title="A talk")["threadId"]
        made["nodes"] = [_say(host, made["talk"], n) for n in range(12)]
        made["other"] = host.ack("thread.create", title="Ein Gespräch über 読書", tags=["a", "b"])["threadId"]
        made["others"] = [_say(host, made["other"], n) for n in range(6)]
        _branch(host, made)
        made["copy"] = host.ack("thread.fork", threadId=made["talk"], atNodeId=made["nodes"][5])["threadId"]
        made["binned"] = host.ack("thread.create", title="Old")["threadId"]
        host.ack("thread.delete", threadId=made["binned"])
        made["folder"] = host.ack("folder.save", folder={"name": "Work"})["folderId"]
        made["connection"] = host.ack(
            "connection.save",
            connection={"name": "Here", "kind": "openai", "baseUrl": "http://127.0.0.1:9/v1", "enabled": True},
        )["connectionId"]
        host.ack("settings.set", patch={"instructions.global": "Be brief."})
        made["file"] = _upload(host, made["other"])
        made["file_node"] = host.ack(
            "node.append",
            threadId=made["other"],
            nodeType="user_message",
            payload={**text("See the file."), "attachmentIds": [made["file"]]},
        )["nodeId"]
        made["page"], made["part"] = _page(host)
        made["asked"], made["run"] = _ask(host)
        host.query("thread.search", query="everything", limit=1)  # all of it is indexed now
        made["storeId"] = host.seen("store.ready")[0]["storeId"]
        return made


def _say(host: HostClient, thread: str, number: int) -> str:
    mine = number % 2 == 0
    words = f"Message {number} of {thread}: " + "naïve words 話 " * (3 + number)
    return str(
        host.ack(
            "node.append",
            threadId=thread,
            nodeType="user_message" if mine else "assistant_message",
            payload=text(words) if mine else said(words),
        )["nodeId"]
    )


def _branch(host: HostClient, made: dict[str, Any]) -> None:
    """A second answer in the first thread, and the first branch chosen again."""
    made["sibling"] = host.ack(
        "node.append",
        threadId=made["talk"],
        parentId=made["nodes"][6],
        nodeType="assistant_message",
        payload=said("Another answer."),
    )["nodeId"]
    host.ack("thread.selectBranch", threadId=made["talk"], nodeId=made["nodes"][7])
    host.ack("node.delete", threadId=made["talk"], nodeId=made["nodes"][9])


def _page(host: HostClient) -> tuple[str, str]:
    """A kept page with one part; both ids."""
    part = _upload(host, None, kind="page_snapshot", mime="multipart/related", provenance="page", trust="untrusted")
    page = host.ack(
        "page.capture", url="https://example.org/a", title="Étude 話", capturedAt=1, parts=[part], text="What it says."
    )
    return str(page["pageId"]), part


def _ask(host: HostClient) -> tuple[str, str]:
    """A thread with an answered turn; its id and the run's."""
    thread = str(host.ack("thread.create", title="Asked")["threadId"])
    host.query("thread.subscribe", threadId=thread)
    run = str(host.ack("turn.submit", threadId=thread, input=text("What is there?"))["runId"])
    host.event("turn.complete", threadId=thread)
    return thread, run


def _upload(host: HostClient, thread: str | None, **members: str) -> str:
    told = {"kind": "file", "mime": "application/octet-stream", "provenance": "user", "trust": "trusted", **members}
    # Each upload has bytes of its own: those that are the same are stored once.
    content = FILE + told["kind"].encode()
    if thread is not None:
        told["threadId"] = thread
    begun = host.ack("attachment.begin", size=len(content), sha256=hashlib.sha256(content).hexdigest(), **told)
    for index in range(-(-len(content) // CHUNK_BYTES)):
        piece = content[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]
        host.ack(
            "attachment.chunk", attachmentId=begun["attachmentId"], index=index, data=base64.b64encode(piece).decode()
        )
    host.ack("attachment.commit", attachmentId=begun["attachmentId"])
    return str(begun["attachmentId"])


def copy_store(source: Path, target: Path) -> Path:
    """The same store in another state folder, copied page by page through SQLite, without the Git repositories."""
    Places(str(target)).make()
    copied(source / "sidekeep.db", target / "sidekeep.db")
    with contextlib.closing(apsw.Connection(str(target / "sidekeep.db"))) as db:
        db.execute("DELETE FROM session_commits; DELETE FROM session_repos")
    return target


def copied(source: Path, target: Path) -> None:
    old = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
    new = apsw.Connection(str(target))
    try:
        with new.backup("main", old, "main") as backup:
            backup.step()
        os.chmod(target, 0o600)
    finally:
        new.close()
        old.close()


@contextmanager
def behind_its_back(state: Path) -> Iterator[apsw.Connection]:
    """A connection without the store's rules, in one transaction: what is done here is damage."""
    db = apsw.Connection(str(state / "sidekeep.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        db.pragma("ignore_check_constraints", True)
        db.pragma("foreign_keys", False)
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        with db:
            yield db
        db.pragma("wal_checkpoint(TRUNCATE)")
    finally:
        db.close()


def overwrite(state: Path, offset: int, data: bytes) -> None:
    """Put bytes into the database file, through SQLite's own file access."""
    file = apsw.VFSFile("", str(state / "sidekeep.db"), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        file.xWrite(data, offset)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()


def pages_of(state: Path, table: str, *, leaves: bool = True) -> list[int]:
    """The numbers of the pages that a table's rows lie on."""
    db = apsw.Connection(str(state / "sidekeep.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        kind = "leaf" if leaves else "internal"
        found = db.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path", (table, kind))
        return [number for (number,) in found]
    finally:
        db.close()


@contextmanager
def store_of(state: Path) -> Iterator[Store]:
    store = open_store(Places(str(state)))
    try:
        yield store
    finally:
        store.close()


def check(state: Path, *, deep: bool = True) -> Report:
    """What the check of this store finds."""
    with to_check(Places(str(state))) as (db, _store):
        return verify(db, deep=deep)


def faults(state: Path, *, deep: bool = True) -> dict[str, int]:
    return dict(check(state, deep=deep).faults)


KEYS = {"nodes": "id", "threads": "id", "attachments": "id", "runs": "id", "pages": "id", "settings": "key",
        "folders": "id", "connections": "id", "command_receipts": "submission_id"}  # fmt: skip


def rows(state: Path) -> dict[tuple[str, str], Any]:
    """What the store holds, by table and id."""
    db = apsw.Connection(str(state / "sidekeep.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return {
            (table, key): rest
            for table, column in KEYS.items()
            for key, *rest in db.execute(f'SELECT "{column}", * FROM "{table}"')
        }
    finally:
        db.close()


def mended(state: Path, *, deep: bool = True) -> Outcome:
    """The store after `sidekeep verify --repair --yes`, for damage inside a file that can be read."""
    with store_of(state) as store:
        found = verify(store.db, deep=deep)
        assert not found.unreadable, found.shown()
        return repair(store, Doorway(store), found, deep=deep, progress=lambda _what, _done, _total: None)


def snapshot(state: Path, thread: str) -> dict[str, Any]:
    """What a panel is shown of a thread, by a real host."""
    with temporary_store(state) as store:
        shown: dict[str, Any] = store.open().query("thread.subscribe", threadId=thread)
        return shown


def sidekeep(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The installed command on this state folder."""
    command = [str(Path(sys.executable).parent / "sidekeep"), *words, "--state", str(state)]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
