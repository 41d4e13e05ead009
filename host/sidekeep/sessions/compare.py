"""Whether the repositories hold what the store says, and what is done where they do not.

Being behind is no fault: what was not committed yet is left out. The quick check looks at where each repository
stands, the deep one compares node by node. A message that only its repository still has is brought back from there; a
repository that is gone, unreadable or wrong is committed anew.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.sessions import gitdir, registry
from sidekeep.sessions.archive import Archive
from sidekeep.sessions.layout import Layout
from sidekeep.sessions.reading import ReadSession, ReadUpload, read_session
from sidekeep.sessions.union import unite
from sidekeep.store import session_repos
from sidekeep.store.doorway import Doorway
from sidekeep.store.tx import Tx
from sidekeep.store.verify_findings import Report

Progress = Callable[[str, int, int], None]

LOST = "repository_lost"
UNREADABLE = "repository_unreadable"
WRONG = "repository_wrong"
AHEAD = "repository_ahead"
LEFT_OVER = "repository_left_over"
_ANEW = "commit it anew from the store"


def check(places: Places, read: Callable[[Callable[[Tx], Any]], Any], progress: Progress, *, deep: bool) -> Report:
    """What does not fit; `thread` and `id` of a finding name the session and the node."""
    report = Report(deep, progress)
    layout = Layout(places.sessions)
    paths = registry.locations(layout)
    noted: list[tuple[str, int, str]] = read(session_repos.standings)
    for number, (session, seq, commit) in enumerate(noted, 1):
        progress("repositories", number, len(noted))
        report.checked["repositories"] += 1
        relative = paths.get(session)
        folder = None if relative is None else layout.path(relative)
        if folder is None or not gitdir.is_repository(folder):
            report.fault(LOST, "Its repository is gone.", _ANEW, thread=session)
            continue
        try:
            _one(report, folder, session, seq, commit, read, deep=deep)
        except (OSError, KeyError, ValueError, gitdir.git().GitError) as error:
            report.fault(UNREADABLE, f"Its repository cannot be read: {error}.", _ANEW, thread=session)
    known = {session for session, _seq, _commit in noted} | set(read(session_repos.all_ids))
    for session, relative in registry.found(layout):
        if session not in known:
            words = f"{relative} is the repository of no conversation; `sidekeep sync` or a rebuild may still need it."
            report.fault(LEFT_OVER, words, "", thread=session)
    return report


def _one(
    report: Report,
    folder: str,
    session: str,
    seq: int,
    commit: str,
    read: Callable[[Callable[[Tx], Any]], Any],
    *,
    deep: bool,
) -> None:
    head = gitdir.head(folder)
    if head is None:
        raise ValueError("it has no commit")
    repository = gitdir.opened(folder)
    if commit != head and not repository.descendant_of(head, commit):
        report.fault(
            WRONG, f"Its branch does not lead to the commit {commit[:10]} that was noted.", _ANEW, thread=session
        )
        return
    if not deep:
        return
    found = read_session(repository, head, session)
    for fault in found.faults:
        report.fault(WRONG, f"In its repository, {fault}.", _ANEW, thread=session)
    stored: dict[str, tuple[int, str, int]] = read(partial(session_repos.digests, thread_id=session))
    for node_id, (n, digest, deleted) in stored.items():
        node = found.nodes.pop(node_id, None)
        if n > seq:
            continue
        if node is None:
            report.fault(WRONG, f"Message {n} is not in its repository.", _ANEW, thread=session, id=node_id)
        elif node.digest != digest or (commit == head and node.deleted != bool(deleted) and not _waits(read, node_id)):
            report.fault(WRONG, f"Message {n} is another one in its repository.", _ANEW, thread=session, id=node_id)
    for node in found.nodes.values():
        words = "Its repository holds a message that the store does not have."
        report.fault(AHEAD, words, "bring it back from there", thread=session, id=node.id)
    report.checked["committedNodes"] += len(stored)


def _waits(read: Callable[[Callable[[Tx], Any]], Any], node_id: str) -> bool:
    """Whether a tombstone waits for its commit."""
    return bool(read(partial(session_repos.mark_waits, node_id=node_id)))


def mend(places: Places, doorway: Doorway, report: Report, log: Callable[[str], None]) -> dict[str, int]:
    """Do what the findings propose; code → how many sessions. What cannot be done is told to `log`."""
    archive = Archive(places, doorway.run, doorway.run, log)
    done: dict[str, int] = {}
    wanted = {finding.thread: finding.code for finding in report.findings if finding.repair and finding.thread}
    wanted |= {found.thread: AHEAD for found in report.findings if found.code == AHEAD and found.thread}
    for session, code in wanted.items():
        try:
            if code == AHEAD:
                _bring_back(archive, session, doorway)
            else:
                folder = archive.folder_of(session)
                if folder is not None:
                    archive.put_aside(folder)
                doorway.run(partial(session_repos.forget, thread_id=session))
            archive.commit(session, rest=True)
            archive.refresh_index(session)
            done[code] = done.get(code, 0) + 1
        except (SidekeepError, OSError, KeyError, ValueError, gitdir.git().GitError) as error:
            log(f"{session}: {error}")
    archive.write_index()
    return done


def _bring_back(archive: Archive, session: str, doorway: Doorway) -> None:
    folder = archive.folder_of(session)
    head = None if folder is None else gitdir.head(folder)
    if folder is None or head is None:
        raise ValueError("its repository is gone")
    repository = gitdir.opened(folder)
    found: ReadSession = read_session(repository, head, session)

    def content(upload: ReadUpload, offset: int, length: int) -> bytes:
        return bytes(repository[upload.oid].data[offset : offset + length])

    unite(found, doorway.run, content)
    os.utime(folder)
