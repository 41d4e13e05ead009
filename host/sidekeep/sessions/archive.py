"""The archive: which sessions are due, one step for each, and the two small files that list them.

It works in the thread that calls it, and lets its caller read and write the store.
"""

import os
import shutil
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from sidekeep.model.clock import now_ms
from sidekeep.model.places import Places
from sidekeep.sessions import files, gitdir, locks, packs, purges, registry
from sidekeep.sessions.commit import Broken, Known, Step, bring_up, copy_upload
from sidekeep.sessions.layout import Layout, upload_name
from sidekeep.store import session_repos
from sidekeep.store.session_repos import Lacking, Upload
from sidekeep.store.tx import Tx

T = TypeVar("T")
Reads = Callable[[Callable[[Tx], Any]], Any]
Writes = Callable[[Callable[[Tx], Any]], Any]
_TRIES = 3
#: Of how many sessions the newest trees are kept in memory, some 20 KiB each.
OPEN_SESSIONS = 64


class Archive:
    """The repositories of one store. `read` and `write` run a function of a transaction and return what it returned;
    what is written may be written twice. At most one thread uses an archive.
    """

    def __init__(self, places: Places, read: Reads, write: Writes, log: Callable[[str], None]) -> None:
        self.layout = Layout(places.sessions)
        self._read = read
        self._write = write
        self._log = log
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._changed: dict[str, dict[str, Any] | None] = {}
        self._indexed = float("-inf")

    def commit(self, session_id: str, *, rest: bool) -> Step | None:
        """A commit for each turn that ended, and with `rest` one for what else changed; None for a thread that is gone.

        Raises OSError (the disk), StoreBusy and other errors of the store; may be called again after any of them.
        """
        self.layout.make()
        with locks.session(self.layout, session_id):
            for _ in range(_TRIES):
                lack = self._read(partial(session_repos.lacking, thread_id=session_id))
                if lack is None:
                    return None
                folder = self._folder(lack)
                try:
                    step = bring_up(
                        folder, lack, self._content, rest=rest, now=now_ms(), known=self._known.get(session_id)
                    )
                except Broken as error:
                    self._begin_anew(session_id, folder, error)
                    continue
                self._note(lack, step)
                self._remember(session_id, step)
                return step
        raise OSError(f"The repository of {session_id} cannot be brought up.")

    def stage(self, session_id: str, uploads: list[Upload]) -> None:
        """Copy uploads into the work tree before their turn runs; the turn's commit takes them in."""
        self.layout.make()
        with locks.session(self.layout, session_id):
            lack = self._read(partial(session_repos.lacking, thread_id=session_id))
            if lack is None:
                return
            folder = self._folder(lack)
            if not gitdir.is_repository(folder):
                gitdir.make(folder)
            for upload in uploads:
                name = upload_name(upload.id, upload.name)
                copy_upload(os.path.join(folder, *name.split("/")), upload, self._content(upload))

    def refresh_index(self, session_id: str) -> None:
        """The work tree and the index are those of the newest commit afterwards: `git status` is clean."""
        with locks.session(self.layout, session_id):
            folder = self.folder_of(session_id)
            commit = None if folder is None else gitdir.head(folder)
            if folder is None or commit is None:
                return
            try:
                gitdir.sweep(folder)
                gitdir.check_out(folder, commit, self._read(partial(session_repos.index_commit, thread_id=session_id)))
                gitdir.refresh_index(folder, commit)
            except (gitdir.git().GitError, KeyError, OSError) as error:
                self._log(f"the index of {session_id} was not refreshed: {error}")
                return
            self._write(partial(session_repos.index_is, thread_id=session_id, commit_id=commit))

    def tidy(self, session_id: str) -> int:
        """Pack loose objects where there are many; how many went into a pack."""
        with locks.session(self.layout, session_id):
            folder = self.folder_of(session_id)
            if folder is None:
                return 0
            try:
                return packs.tidy(folder)
            except gitdir.git().GitError as error:
                self._log(f"the repository of {session_id} was not packed: {error}")
                return 0

    def purge(self, limit: int = 100) -> int:
        """Remove the repositories of threads that were purged; how many."""
        gone = self._read(partial(session_repos.purges, limit=limit))
        for session_id in gone:
            purges.remove(self.layout.make(), session_id)
            self._changed[session_id] = None
            self._write(partial(session_repos.purged, thread_id=session_id))
        return len(gone)

    def write_index(self, *, at_most_every: float = 0.0) -> float | None:
        """Bring `index.json` up; returns the seconds until it may be written, None when nothing waits."""
        if not self._changed and os.path.exists(self.layout.index):
            return None
        if not os.path.isdir(self.layout.root):
            return None
        left = self._indexed + at_most_every - monotonic()
        if left > 0:
            return left
        changed, self._changed = self._changed, {}
        self._indexed = monotonic()
        registry.write_index(self.layout, changed)
        return None

    def folder_of(self, session_id: str) -> str | None:
        """Where a session's repository lies; None where there is none."""
        relative = registry.locations(self.layout).get(session_id)
        folder = None if relative is None else self.layout.path(relative)
        return folder if folder is not None and gitdir.is_repository(folder) else None

    def put_aside(self, folder: str) -> None:
        """Move a repository out of the way, within its folder."""
        aside = os.path.join(folder, gitdir.UNREADABLE)
        shutil.rmtree(aside, ignore_errors=True)
        os.rename(os.path.join(folder, ".git"), aside)

    def _folder(self, lack: Lacking) -> str:
        """The folder to write to; a project that was chosen before the first turn moves an empty session there."""
        row = lack.thread
        known = registry.locations(self.layout).get(row.id)
        usual = self.layout.usual(row.id, row.project_id)
        if known is None or (known != usual and not os.path.isdir(self.layout.path(known))):
            registry.place(self.layout, row.id, usual)
            known = usual
        elif known != usual and not os.path.exists(self.layout.path(usual)):
            os.makedirs(os.path.dirname(self.layout.path(usual)), mode=0o700, exist_ok=True)
            os.rename(self.layout.path(known), self.layout.path(usual))
            registry.place(self.layout, row.id, usual)
            known = usual
        return self.layout.path(known)

    def _note(self, lack: Lacking, step: Step) -> None:
        row = lack.thread
        if step.commits or step.done or step.position[:3] != lack.position[:3]:
            self._write(lambda tx: session_repos.settle(tx, row.id, step.position, step.commits, step.done, step.marks))
        if step.commits:
            self._changed[row.id] = registry.summary(files.meta(row, None), row.preview)

    def _remember(self, session_id: str, step: Step) -> None:
        """The newest trees of the sessions used last; whoever moves a branch behind us finds that they do not count."""
        if step.known is not None:
            self._known[session_id] = step.known
        if session_id in self._known:
            self._known.move_to_end(session_id)
        if len(self._known) > OPEN_SESSIONS:
            self._known.popitem(last=False)

    def _content(self, upload: Upload) -> Iterator[bytes]:
        for number in range(session_repos.pieces(upload)):
            piece = self._read(partial(session_repos.piece, upload=upload, number=number))
            if piece is None:
                return
            yield piece

    def _begin_anew(self, session_id: str, folder: str, error: Broken) -> None:
        """The store is the live copy: what the repository lost is written again from it."""
        self._log(f"the repository of {session_id} is committed anew: {error}")
        if not error.readable:
            self.put_aside(folder)
        self._known.pop(session_id, None)
        self._write(partial(session_repos.forget, thread_id=session_id))
