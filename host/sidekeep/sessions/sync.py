"""Synchronisation with a Git remote: a branch for each session, united with what others wrote there meanwhile.

For each session that changed here or there: what is here is committed, what is there is fetched, its nodes go into the
store (parents first, each checked), and a commit that has both as parents goes back. Branches only ever grow, so that a
race is lost by nobody: who comes second fetches again. Whatever is interrupted is done again the next time.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sidekeep.model.clock import now_ms
from sidekeep.model.errors import SidekeepError
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places, private_folder
from sidekeep.sessions import gitdir, locks, purged_commit, registry
from sidekeep.sessions.archive import Archive
from sidekeep.sessions.joining import Join
from sidekeep.sessions.remote import FETCHED, Cancelled, Remote
from sidekeep.store import session_repos, sync_state, trash
from sidekeep.store.sync_state import Head
from sidekeep.store.tx import Tx

#: How many sessions share a connection.
BATCH = 64
ROUNDS = 6

Decide = Callable[[Tx], Any]
Progress = Callable[[int, int, str], None]


@dataclass
class Report:
    """What was done. `faults` names, by session, what was not; counts are sessions, but for `nodes` and `uploads`."""

    remote: str
    sessions: int = 0
    sent: int = 0
    received: int = 0
    nodes: int = 0
    uploads: int = 0
    removed: int = 0
    faults: dict[str, list[str]] = field(default_factory=dict)

    def fault(self, session_id: str, words: str) -> None:
        self.faults.setdefault(session_id, []).append(words)


class Sync:
    """One synchronisation of a store. `read` and `write` run a function of a transaction; what is written may be
    written twice."""

    def __init__(
        self,
        places: Places,
        read: Callable[[Decide], Any],
        write: Callable[[Decide], Any],
        log: Callable[[str], None],
        progress: Progress = lambda _done, _total, _note: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._read = read
        self._write = write
        self._progress = progress
        self._cancelled = cancelled
        self._archive = Archive(places, read, write, log)
        self._layout = self._archive.layout.make()
        self._hub = os.path.join(self._layout.root, ".sync", new_id())

    def run(self, url: str) -> Report:
        """Unite with a remote. Raises InvalidCommand for what is no remote, NotFound, NeedsPermission, ProviderNetwork
        or Conflict for one that refuses, Cancelled, and the store's errors; may be called again after any of them."""
        remote = Remote(url, self._cancelled)
        report = Report(remote.url)
        with locks.synchronising(self._layout):
            shutil.rmtree(os.path.dirname(self._hub), ignore_errors=True)  # of one that was killed
            private_folder(os.path.dirname(self._hub))
            try:
                self._run(remote, report)
            finally:
                shutil.rmtree(os.path.dirname(self._hub), ignore_errors=True)
                self._archive.write_index()
        self._write(partial(sync_state.finished, remote=remote.url))
        return report

    def _run(self, remote: Remote, report: Report) -> None:
        self._stop_if_cancelled()
        gitdir.make(self._hub)
        self._progress(0, 0, "looking at the remote")
        there = remote.heads(self._hub)
        self._commit_all(report)
        known: dict[str, Head] = self._read(partial(sync_state.heads, remote=remote.url))
        here: dict[str, str] = self._read(sync_state.commits)
        gone: set[str] = self._read(sync_state.purges) - here.keys()
        todo = [session for session in sorted({*here, *there}) if _differs(session, here, there, known, gone)]
        report.sessions = len({*here, *there} - gone)
        done = 0
        for round_ in range(ROUNDS):
            behind: list[str] = []
            for start in range(0, len(todo), BATCH):
                batch = todo[start : start + BATCH]
                self._progress(done, done + len(todo) - start, f"{len(todo) - start} conversations to go")
                behind += self._batch(remote, batch, there, known, gone, report)
                done += len(batch)
            if not behind:
                return
            todo, there = behind, remote.heads(self._hub)
            if round_ == ROUNDS - 1:
                for session in behind:
                    report.fault(session, "others kept writing to it on the remote; synchronise again")

    def _commit_all(self, report: Report) -> None:
        """Every repository says what the store says."""
        for session in self._read(session_repos.all_due):
            self._stop_if_cancelled()
            try:
                self._archive.commit(session, rest=True)
            except (SidekeepError, OSError) as error:
                report.fault(session, f"was not committed: {error}")

    def _batch(
        self,
        remote: Remote,
        batch: list[str],
        there: dict[str, str],
        known: dict[str, Head],
        gone: set[str],
        report: Report,
    ) -> list[str]:
        """Unite some sessions over two connections; returns those that somebody else wrote to meanwhile."""
        self._stop_if_cancelled()
        folders = {session: folder for session in batch if (folder := self._archive.folder_of(session)) is not None}
        self._lend(folders)
        wanted = [session for session in batch if session in there and not _has(folders.get(session), there[session],
                                                                                known.get(session))]  # fmt: skip
        if wanted:
            remote.fetch(self._hub, wanted)
        hub = gitdir.opened(self._hub)
        commits: dict[str, str] = {}
        settled: dict[str, bool] = {}
        for session in batch:
            self._stop_if_cancelled()
            theirs = _fetched(hub, session) if session in wanted else there.get(session)
            try:
                if session in gone:
                    if theirs is not None and not purged_commit.is_one(hub, theirs):
                        commits[session] = purged_commit.make(self._hub, theirs)
                        report.removed += 1
                    settled[session] = True
                    continue
                made, purged = self._unite(session, theirs, report)
                settled[session] = purged
                if made is not None and made != theirs and not purged:
                    commits[session] = made
                elif theirs is not None:
                    self._note(remote, session, theirs, purged=purged)
            except (SidekeepError, OSError, KeyError, ValueError, gitdir.git().GitError) as error:
                report.fault(session, f"{error}")
        if not commits:
            return []
        self._lend({session: folder for session in commits if (folder := self._archive.folder_of(session)) is not None})
        told = remote.push(self._hub, commits)
        behind = []
        for session, why in told.items():
            if why is None:
                self._note(remote, session, commits[session], purged=settled[session])
                report.sent += session not in gone
            elif why == "behind":
                behind.append(session)
            else:
                report.fault(session, f"the remote refused it: {why}")
        return behind

    def _unite(self, session: str, theirs: str | None, report: Report) -> tuple[str | None, bool]:
        """Take in what is there; returns the commit that is to be there, and whether it was removed there for good."""
        if theirs is not None and purged_commit.is_one(gitdir.opened(self._hub), theirs):
            self._write(partial(_to_trash, session_id=session))
            report.removed += 1
            return theirs, True
        with locks.session(self._layout, session):
            folder = self._archive.folder_of(session)
            ours = None if folder is None else gitdir.head(folder)
            if theirs is None or ours == theirs:
                return ours, False
            if folder is None:
                relative = self._layout.usual(session, None)
                folder = self._layout.path(relative)
            join = Join(self._hub, folder, session, ours, theirs, self._read, self._write)
            made = join.run(now_ms())
            registry.place(self._layout, session, os.path.relpath(folder, self._layout.root).replace(os.sep, "/"))
        report.nodes += join.united.nodes
        report.uploads += join.united.uploads
        report.received += join.took
        for fault in join.united.faults:
            report.fault(session, fault)
        return made, False

    def _lend(self, folders: dict[str, str]) -> None:
        """Let the hub see what these repositories hold, so that nothing of it is fetched or copied."""
        info = os.path.join(self._hub, ".git", "objects", "info")
        lines = sorted(os.path.join(folder, ".git", "objects") for folder in folders.values())
        with open(os.path.join(info, "alternates"), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        heads = {session: commit for session, folder in folders.items() if (commit := gitdir.head(folder)) is not None}
        for session, commit in heads.items():
            path = os.path.join(self._hub, ".git", "refs", "heads", session)
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{commit}\n")

    def _note(self, remote: Remote, session: str, commit: str, *, purged: bool) -> None:
        self._write(partial(sync_state.head_is, remote=remote.url, thread_id=session, commit_id=commit, purged=purged))

    def _stop_if_cancelled(self) -> None:
        if self._cancelled():
            raise Cancelled


def _differs(
    session: str, here: dict[str, str], there: dict[str, str], known: dict[str, Head], gone: Iterable[str]
) -> bool:
    head = known.get(session)
    if head is not None and head.purged and there.get(session) == head.commit_id:
        return False
    if session in gone:
        return session in there
    return here.get(session) != there.get(session)


def _has(folder: str | None, commit: str, known: Head | None) -> bool:
    """Whether a repository holds a commit with all that belongs to it: what its branch leads to, or what was there
    when it was synchronised last."""
    if folder is None:
        return False
    return gitdir.head(folder) == commit or (known is not None and known.commit_id == commit)


def _fetched(hub: Any, session: str) -> str | None:
    found = hub.references.get(f"{FETCHED}{session}")
    return None if found is None else str(found.target)


def _to_trash(tx: Tx, session_id: str) -> None:
    row = tx.thread(session_id)
    if row is not None and row.deleted_at is None:
        trash.delete(tx, row)
        tx.finish()
