"""One step: bring a session's repository up to what the store says, a commit for each turn that ended.

Order: objects, `meta.json` of the work tree, the branch. The other files of the work tree follow with the index, when
nothing more is to be committed: to make a file costs more than all else. Whoever is killed in between leaves a
repository without the commit or with it; the store notes it afterwards, and reads it from the repository when it did
not come to that.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sidekeep.sessions import files, gitdir
from sidekeep.sessions.layout import node_name, turn_name, upload_name
from sidekeep.sessions.objects import Objects
from sidekeep.sessions.trees import Tree
from sidekeep.store.session_repos import EndedTurn, Lacking, Noted, Position, StoredNode, Upload

#: Pieces of an upload's bytes, in order.
Bytes = Callable[[Upload], Iterator[bytes]]
_WALK = 100_000


class Standing(NamedTuple):
    """How far the repository itself says that it is; `tree` is that of its newest commit."""

    position: Position
    turns: int
    tree: str | None
    commits: list[Noted]
    runs: set[str]


@dataclass(frozen=True)
class Known:
    """What a step may take for granted when the branch still leads to this commit: it need not read anything."""

    commit: str
    turns: int
    tree: str
    trees: dict[str, bytes]


@dataclass
class Step:
    """What a step did, to be noted in the store; `known` is for the next one."""

    position: Position
    known: Known | None = None
    commits: list[Noted] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    marks: list[tuple[StoredNode, int]] = field(default_factory=list)


class Broken(Exception):
    """The repository cannot be read and is put aside, or is not what was noted; everything is looked at anew."""

    def __init__(self, why: str, *, readable: bool = False) -> None:
        super().__init__(why)
        self.readable = readable


def bring_up(folder: str, lack: Lacking, content: Bytes, *, rest: bool, now: int, known: Known | None = None) -> Step:
    """Commit the turns that ended, and with `rest` what else changed. `now` in milliseconds.

    The session's lock is held. Raises Broken, OSError.
    """
    if not gitdir.is_repository(folder):
        gitdir.make(folder)
    gitdir.sweep(folder)
    head = gitdir.head(folder)
    objects = Objects(folder)
    if known is not None and head is not None and head == known.commit == lack.position.commit_id:
        standing = Standing(lack.position, known.turns, known.tree, [], set())
        return _do(_Work(folder, objects, lack, content, standing, known.trees), rest=rest, now=now)
    standing = Standing(Position(0, 0, None, None), 0, None, [], set())
    if head is not None:
        try:
            standing = _standing(objects, head, lack)
        except (gitdir.git().GitError, KeyError, ValueError, AttributeError) as error:
            raise Broken(str(error)) from error
    if standing.position.seq < lack.position.seq:
        raise Broken("the repository is older than what was noted", readable=True)
    return _do(_Work(folder, objects, lack, content, standing, {}), rest=rest, now=now)


def _do(work: "_Work", *, rest: bool, now: int) -> Step:
    lack = work.lack
    try:
        for turn in lack.turns:
            if turn.run_id in work.standing.runs:
                work.step.done.append(turn.run_id)
            else:
                work.turn(turn, whole=turn is lack.turns[-1] and _is_all(lack, turn))
        if rest:
            work.rest(now)
    except (KeyError, ValueError) as error:
        raise Broken(str(error)) from error
    return work.step


def _is_all(lack: Lacking, turn: EndedTurn) -> bool:
    """Nothing follows this turn: its commit shows the conversation as it is."""
    return turn.upto >= lack.last_seq or lack.thread.status != "running"


def _standing(objects: Objects, head: str, lack: Lacking) -> Standing:
    """What the branch says; commits above the noted one were made and not noted."""
    noted = lack.position.commit_id
    seq = revision = turns = 0
    found: list[Noted] = []
    runs: set[str] = set()
    at: Any = objects.repository[head]
    tree = str(at.tree_id)
    known = False
    for _ in range(_WALK):
        position = files.position_in(at.message)
        if position is not None and not known:
            known = True
            turns = position[3]
            if position[0] == lack.store:
                seq, revision = position[1], position[2]
        if str(at.id) == noted:
            if not seq:
                # Another store's commit that was taken in here: what of ours it holds is noted.
                seq, revision = lack.position.seq, lack.position.revision
            break
        turn_id, run_id = files.turn_in(at.message)
        found.append(Noted(str(at.id), at.message, at.commit_time * 1000, turn_id))
        if run_id:
            runs.add(run_id)
        if not at.parents:
            break
        at = at.parents[0]
    return Standing(Position(seq, revision, head, None), turns, tree, found[::-1], runs)


class _Work:
    """One session's repository during a step."""

    def __init__(
        self,
        folder: str,
        objects: Objects,
        lack: Lacking,
        content: Bytes,
        standing: Standing,
        trees: dict[str, bytes],
    ) -> None:
        self._folder = folder
        self._objects = objects
        self._content = content
        self._trees = trees
        self._root = standing.tree
        self._turns = standing.turns
        self.lack = lack
        self.standing = standing
        self.step = Step(standing.position, commits=list(standing.commits))
        # A tombstone whose commit was made and not noted is written once more: that changes nothing.
        self._marks = list(lack.marks)

    def turn(self, turn: EndedTurn, *, whole: bool) -> None:
        """The commit of a turn: its nodes, its record, its uploads; the last one takes what else is there."""
        lack = self.lack
        upto = lack.last_seq if whole else max(turn.upto, self.step.position.seq)
        self._turns += 1
        tree = self._tree()
        self._put(tree, turn_name(lack.store, self._turns, turn.turn_id), files.turn_file(turn, self._turns))
        head = self._fill(tree, upto)
        message = files.turn_message(lack, turn, self._turns, self.step.position.seq) + "\n"
        revision = lack.thread.revision if whole else 0
        self._commit(tree, head, message, upto, revision, turn.at, turn.turn_id)
        self.step.done.append(turn.run_id)

    def rest(self, now: int) -> None:
        """What changed without a turn, if anything did."""
        lack, position = self.lack, self.step.position
        if position.commit_id is not None and position.revision == lack.thread.revision \
                and position.seq >= lack.last_seq and not self._marks:  # fmt: skip
            return
        tree = self._tree()
        head = self._fill(tree, lack.last_seq)
        message = files.other_message(lack) + "\n"
        self._commit(tree, head, message, lack.last_seq, lack.thread.revision, now, None)

    def _tree(self) -> Tree:
        self._written: dict[str, bytes] = {}
        return Tree(self._objects, self._root, self._trees, self._written)

    def _fill(self, tree: Tree, upto: int) -> str | None:
        """Nodes, tombstones and uploads up to a seq; returns the head that `meta.json` names."""
        lack, after = self.lack, self.step.position.seq
        last = None
        for node in lack.nodes:
            if after < node.seq <= upto:
                self._put(tree, self._name(node), files.node_file(node))
                last = node.id
                for upload in self._uploads(node):
                    self._copy(tree, upload)
        later = []
        for node, at in self._marks:
            if node.seq > upto:
                later.append((node, at))
            else:
                if not after < node.seq:
                    self._put(tree, self._name(node), files.node_file(node))
                self.step.marks.append((node, at))
        self._marks = later
        leaf = lack.thread.leaf
        return last if leaf is not None and leaf & 0xFFFF_FFFF > upto else lack.thread.leaf_id

    def _name(self, node: StoredNode) -> str:
        store, n = node.origin or (self.lack.store, node.seq)
        return node_name(store, n, node.id)

    def _uploads(self, node: StoredNode) -> Iterator[Upload]:
        if node.type == "user_message" and self.lack.uploads:
            for upload in self.lack.uploads.values():
                if upload.id.encode() in node.payload:
                    yield upload

    def _put(self, tree: Tree, name: str, content: bytes) -> None:
        """A file of the commit; the work tree follows with the index."""
        tree.put(name, self._objects.put("blob", content))

    def _copy(self, tree: Tree, upload: Upload) -> None:
        name = upload_name(upload.id, upload.name)
        path = os.path.join(self._folder, *name.split("/"))
        copy_upload(path, upload, self._content(upload))
        tree.put(name, self._objects.put_file(path, upload.size))

    def _commit(
        self, tree: Tree, head: str | None, message: str, seq: int, revision: int, at: int, turn_id: str | None
    ) -> None:
        """The commit itself; `meta.json` of the work tree is written at one stroke."""
        path = os.path.join(self._folder, "meta.json")
        about = files.meta_file(self.lack.thread, head, os.path.getsize(path) if os.path.exists(path) else 0)
        tree.put("meta.json", self._objects.put("blob", about))
        parent = self.step.position.commit_id
        message += files.trailers(self.lack.store, seq, revision, self._turns)
        self._root = root = tree.write()
        self._trees = self._written
        made = self._objects.put("commit", commit_text(root, parent, at // 1000, message))
        self._objects.write()
        gitdir.overwrite(path, about)
        gitdir.move_head(self._folder, made)
        self.step.position = Position(seq, revision, made, None)
        self.step.known = Known(made, self._turns, root, self._trees)
        self.step.commits.append(Noted(made, message, at // 1000 * 1000, turn_id))


def commit_text(tree: str, parent: str | None, seconds: int, message: str, other: str | None = None) -> bytes:
    """A commit as Git stores it; the same content at the same time is the same commit. `other` is a second parent."""
    who = f"Sidekeep <sidekeep@localhost> {seconds} +0000"
    parents = "".join(f"parent {each}\n" for each in (parent, other) if each is not None)
    return f"tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{message}".encode("utf-8", "replace")


def copy_upload(path: str, upload: Upload, content: Iterator[bytes]) -> None:
    """An upload's copy in the work tree; one that is whole already is left alone."""
    try:
        if os.path.getsize(path) == upload.size:
            return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.part"
    with open(temporary, "wb") as file:
        for piece in content:
            file.write(piece)
    os.replace(temporary, path)
