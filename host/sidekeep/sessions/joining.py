"""Joins what a remote has of a session with what is here: into the store, and into one commit that follows both.

Nodes are united; tombstones and the fields of `meta.json` go by what changed since the commit that both follow: a
change on one side is taken, of two the later one. Status, unread, cursor, revision and scope stay each store's own.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from sidekeep.sessions import files, gitdir
from sidekeep.sessions.commit import commit_text
from sidekeep.sessions.layout import upload_name
from sidekeep.sessions.objects import Objects
from sidekeep.sessions.reading import ReadNode, ReadSession, ReadUpload, read_session
from sidekeep.sessions.trees import Tree
from sidekeep.sessions.union import United, columns_of, unite
from sidekeep.store import arrivals, session_repos
from sidekeep.store.session_repos import Noted, Position
from sidekeep.store.tx import Tx

#: So many bytes of copied objects wait in memory at most.
_HELD = 16 * 1024 * 1024
Decide = Callable[[Tx], Any]


class Join:
    """One session whose lock is held. `hub` holds what was fetched, `folder` is the session's own repository, `ours`
    its branch (None: there is none yet), `theirs` the commit of the remote."""

    def __init__(
        self,
        hub: str,
        folder: str,
        session_id: str,
        ours: str | None,
        theirs: str,
        read: Callable[[Decide], Any],
        write: Callable[[Decide], Any],
    ) -> None:
        self._hub = gitdir.opened(hub)
        self._folder = folder
        self._session = session_id
        self._ours = ours
        self._theirs = theirs
        self._read = read
        self._write = write
        self.united = United()
        self.took = False

    def run(self, now: int) -> str:
        """Returns the commit that the branch leads to afterwards. Raises the store's errors, OSError, KeyError."""
        base = None
        if self._ours is not None:
            found = self._hub.merge_base(self._ours, self._theirs)
            base = None if found is None else str(found)
            if base == self._theirs:
                return self._ours  # nothing there that is not here
        read = read_session(self._hub, self._theirs, self._session, base)
        self.took = True
        self.united = unite(read, self._write, self._content)
        self._write(partial(self._marks_and_fields, read=read, base=base))
        if not gitdir.is_repository(self._folder):
            gitdir.make(self._folder)
        gitdir.sweep(self._folder)
        copy_commits(self._hub, self._folder, self._theirs)
        if self._ours is None or base == self._ours:
            made, commits = self._theirs, self._new_commits(base)
        else:
            made, commits = self._merged(read, now)
        self._settle(made, commits)
        gitdir.move_head(self._folder, made)
        return made

    def _content(self, upload: ReadUpload, offset: int, length: int) -> bytes:
        return bytes(self._hub[upload.oid].data[offset : offset + length])

    def _marks_and_fields(self, tx: Tx, read: ReadSession, base: str | None) -> None:
        row = tx.thread(self._session)
        if row is None:
            return
        for node in read.nodes.values():
            found = tx.one("SELECT deleted FROM nodes WHERE id = ? AND k >> 32 = ?", (node.id, row.k))
            if found is not None and _wanted(node, bool(found[0])) != bool(found[0]):
                arrivals.mark(tx, row, node.id, node.deleted)
                self.united.marks += 1
        if self._ours is not None:
            theirs = columns_of(read.meta)
            ours = columns_of(read_meta(self._hub, self._ours, self._session))
            before = {} if base is None else columns_of(read_meta(self._hub, base, self._session))
            later = self._time(self._theirs) > self._time(self._ours)
            for name, value in theirs.items():
                changed_there = base is None or value != before.get(name)
                changed_here = base is None or ours.get(name) != before.get(name)
                if changed_there and value != ours.get(name) and (not changed_here or later) and hasattr(row, name):
                    row.set(name, value)
                    self.united.fields += 1
        tx.finish()
        self.united.last_seq, self.united.revision = row.next_seq - 1, row.revision

    def _time(self, commit: str) -> tuple[int, str]:
        return int(self._hub[commit].commit_time), commit

    def _merged(self, read: ReadSession, now: int) -> tuple[str, list[Noted]]:
        """A commit that follows both: the tree of ours with what came, and the fields as the store has them now."""
        assert self._ours is not None
        objects = Objects(self._folder)
        tree = Tree(objects, str(self._hub[self._ours].tree_id), {}, {})
        state = self._read(partial(_state_of, session_id=self._session))
        for node in read.nodes.values():
            if state.deleted.get(node.id) == node.deleted:
                tree.put(node.file, node.oid)
        for name, oid in read.records:
            tree.put(name, oid)
        for upload in read.uploads:
            tree.put(upload_name(upload.id, upload.name), upload.oid)
        tree.put("meta.json", objects.put("blob", files.meta_file(state.row, state.row.leaf_id, 0)))
        position, turns = state.position, max(self._turns(self._ours), self._turns(self._theirs))
        whole = state.row.next_seq - 1 == self.united.last_seq == position.seq + self.united.nodes
        seq, revision = (self.united.last_seq, self.united.revision) if whole else (position.seq, 0)
        message = f"Joined with {self._theirs[:10]}\n\n" + files.trailers(state.store, seq, revision, turns)
        text = commit_text(tree.write(), self._ours, now // 1000, message, self._theirs)
        made = objects.put("commit", text)
        objects.write()
        joined = Noted(made, message, now // 1000 * 1000, None)
        return made, [*self._new_commits(self._ours), joined]

    def _turns(self, commit: str) -> int:
        position = files.position_in(self._hub[commit].message)
        return 0 if position is None else position[3]

    def _new_commits(self, known: str | None) -> list[Noted]:
        """The commits of others that are not listed here yet, oldest first."""
        from pygit2.enums import SortMode

        walker = self._hub.walk(self._theirs, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        if known is not None:
            walker.hide(known)
        return [
            Noted(str(commit.id), commit.message[:10_000], commit.commit_time * 1000, files.turn_in(commit.message)[0])
            for commit in walker
        ]

    def _settle(self, made: str, commits: list[Noted]) -> None:
        """Before the branch moves: after a death in between the repository is older than what is noted, and is brought
        up from the store."""

        def settle(tx: Tx) -> None:
            row = tx.thread(self._session)
            if row is None:
                return
            position = session_repos.position_of(tx, row)
            whole = row.next_seq - 1 == position.seq + self.united.nodes and row.revision == self.united.revision
            fresh = self._ours is None and row.next_seq - 1 == self.united.last_seq
            seq, revision = (row.next_seq - 1, row.revision) if whole or fresh else (position.seq, 0)
            session_repos.settle(tx, row.id, Position(seq, revision, made, None), commits, [], [])

        self._write(settle)


class _State:
    """What the store has of a session now."""

    def __init__(self, tx: Tx, session_id: str) -> None:
        row = tx.thread(session_id)
        if row is None:
            raise KeyError(session_id)
        self.row = row
        self.store = session_repos.store_name(tx)
        self.position = session_repos.position_of(tx, row)
        self.deleted = {node: bool(deleted) for node, deleted in tx.all(
            "SELECT id, deleted FROM nodes WHERE k >> 32 = ?", (row.k,))}  # fmt: skip


def _state_of(tx: Tx, session_id: str) -> _State:
    return _State(tx, session_id)


def _wanted(node: ReadNode, here: bool) -> bool:
    """Whether a node that is here is to be a tombstone."""
    if node.was_deleted is None:
        return here or node.deleted  # it came to both: deleted wins
    return node.deleted


def read_meta(repository: Any, commit: str, session_id: str) -> dict[str, Any]:
    """The fields that a commit has, without anything else of it."""
    return read_session(repository, commit, session_id, commit).meta


def copy_commits(source: Any, folder: str, commit: str) -> None:
    """Copy a commit and all that it leads to into the repository of a folder: what leads to something is written after
    it, so that a death leaves nothing that is there by half."""
    target = gitdir.opened(folder)
    objects = Objects(folder)
    held = 0
    seen: set[str] = set()

    def put(kind: str, oid: Any) -> None:
        nonlocal held
        raw = bytes(source[oid].read_raw())
        objects.put(kind, raw)
        held += len(raw)
        if held > _HELD:
            objects.write()
            held = 0

    def tree(oid: Any) -> None:
        if str(oid) in seen or oid in target:
            return
        seen.add(str(oid))
        for entry in source[oid]:
            if entry.filemode == 0o040000:
                tree(entry.id)
            elif entry.filemode != 0o160000 and str(entry.id) not in seen and entry.id not in target:
                seen.add(str(entry.id))
                put("blob", entry.id)
        put("tree", oid)

    missing: list[Any] = []
    waiting = [source[commit].id]
    while waiting:
        oid = waiting.pop()
        if str(oid) in seen or oid in target:
            continue
        seen.add(str(oid))
        missing.append(oid)
        waiting += source[oid].parent_ids
    for oid in reversed(_parents_first(source, missing)):
        tree(source[oid].tree_id)
    objects.write()
    for oid in _parents_first(source, missing):
        put("commit", oid)
    objects.write()
    os.utime(folder)


def _parents_first(source: Any, commits: list[Any]) -> list[Any]:
    """The commits in an order in which each follows its parents."""
    inside = {str(oid) for oid in commits}
    done: list[Any] = []
    placed: set[str] = set()
    for start in commits:
        stack = [start]
        while stack:
            oid = stack[-1]
            above = [each for each in source[oid].parent_ids if str(each) in inside and str(each) not in placed]
            if above:
                stack += above
                continue
            stack.pop()
            if str(oid) not in placed:
                placed.add(str(oid))
                done.append(oid)
    return done
