"""The database from the repositories, and the repositories from the database.

From repositories come threads, nodes, tombstones, the files that users sent, and the projects' names; not receipts,
runs, settings, connections, secrets, memories, skills or pages (backups hold those). A store that was made anew has an
id of its own, so that no client sends it what was meant for the lost one.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from sidekeep.model.clock import now_ms
from sidekeep.model.errors import Conflict, SidekeepError, StoreBusy
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places, private_folder
from sidekeep.sessions import gitdir, registry
from sidekeep.sessions.archive import Archive
from sidekeep.sessions.layout import Layout
from sidekeep.sessions.reading import ReadSession, ReadUpload, read_session
from sidekeep.sessions.union import unite
from sidekeep.store import locks, session_repos
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx

Progress = Callable[[int, int, str], None]
_FILES = ("sidekeep.db", "sidekeep.db-wal", "sidekeep.db-shm", "sidekeep.db-journal")


@dataclass
class Report:
    """What was done; `faults` names, by session, what could not be."""

    sessions: int = 0
    nodes: int = 0
    uploads: int = 0
    commits: int = 0
    kept: str | None = None
    faults: dict[str, list[str]] = field(default_factory=dict)


def database(places: Places, progress: Progress, *, replace: bool = False) -> Report:
    """Make the database from the repositories. An old one is put aside first, and only with `replace`.

    Raises Conflict where there is a database, StoreBusy where a process works on it.
    """
    report = Report()
    places.make()
    if os.path.exists(places.database):
        if not replace:
            raise Conflict(
                "There is a database already; --replace puts it aside (it is kept in backups/) and makes a new one."
            )
        report.kept = _put_aside(places)
    layout = Layout(places.sessions)
    found = sorted(registry.locations(layout).items())
    store = open_store(places)
    try:
        doorway = Doorway(store)
        for number, (session_id, relative) in enumerate(found, 1):
            progress(number, len(found), session_id)
            folder = layout.path(relative)
            try:
                _take(folder, session_id, doorway, report)
            except (SidekeepError, OSError, KeyError, ValueError, gitdir.git().GitError) as error:
                report.faults.setdefault(session_id, []).append(f"{type(error).__name__}: {error}")
    finally:
        store.close()
    return report


def _take(folder: str, session_id: str, doorway: Doorway, report: Report) -> None:
    commit = gitdir.head(folder)
    if commit is None:
        raise ValueError("has no commit")
    repository = gitdir.opened(folder)
    read: ReadSession = read_session(repository, commit, session_id)
    if read.purged:
        return

    def content(upload: ReadUpload, offset: int, length: int) -> bytes:
        return bytes(repository[upload.oid].data[offset : offset + length])

    done = unite(read, doorway.run, content)
    report.sessions += 1
    report.nodes += done.nodes
    report.uploads += done.uploads
    if done.faults:
        report.faults[session_id] = done.faults


def _put_aside(places: Places) -> str:
    """Move the database's files into `backups/`, while no process has them open. Raises StoreBusy."""
    locked: list[int] = []
    try:
        for name in ("open", "schema"):
            fd = locks.open_lock_file(os.path.join(places.locks, name))
            locked.append(fd)
            if not locks.lock_within(fd, locks.EXCLUSIVE, 5.0):
                raise StoreBusy("A browser or a runner has the store open: close it, wait a minute, try again.")
        folder = private_folder(os.path.join(places.backups, f"before-rebuild-{now_ms()}-{new_id()[-6:]}"))
        for name in _FILES:
            path = os.path.join(places.state, name)
            if os.path.exists(path):
                os.rename(path, os.path.join(folder, name))
        return folder
    finally:
        for fd in locked:
            os.close(fd)


def repositories(places: Places, progress: Progress) -> Report:
    """Bring every session's repository up to the database; what is missing or cannot be read is made anew."""
    report = Report()
    store = open_store(places)
    try:
        doorway = Doorway(store)
        archive = Archive(places, doorway.run, doorway.run, lambda _line: None)
        ids = doorway.run(lambda tx: list(_all_threads(tx)))
        for number, session_id in enumerate(ids, 1):
            progress(number, len(ids), session_id)
            try:
                if archive.folder_of(session_id) is None:
                    doorway.run(partial(session_repos.forget, thread_id=session_id))
                step = archive.commit(session_id, rest=True)
                archive.refresh_index(session_id)
            except (SidekeepError, OSError) as error:
                report.faults[session_id] = [str(error)]
                continue
            report.sessions += 1
            report.commits += 0 if step is None else len(step.commits)
        archive.write_index()
    finally:
        store.close()
    return report


def _all_threads(tx: Tx) -> Iterator[str]:
    yield from (row[0] for row in tx.all("SELECT id FROM threads ORDER BY k"))
