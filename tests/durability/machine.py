"""Product commands, drawn by Hypothesis, against a plain model of what they promise; with or without power cuts."""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from durability.disk import Disk, Image
from durability.judge import audit
from durability.long_images import fast_folder
from durability.product import Answer, Op, Product
from durability.recorder import Log, RecordingVFS
from sidekeep.model.places import Places

BITS = st.integers(0, 2**30)


@dataclass
class Node:
    id: str
    parent: str | None
    text: str
    deleted: bool = False


@dataclass
class Thread:
    """A conversation as a person would write it down."""

    title: str
    nodes: list[Node] = field(default_factory=list)
    leaf: str | None = None
    trashed: bool = False
    chosen: dict[str | None, str] = field(default_factory=dict)

    def node(self, node_id: str) -> Node:
        return next(node for node in self.nodes if node.id == node_id)

    def add(self, node: Node) -> None:
        self.nodes.append(node)
        self.chosen[node.parent] = node.id
        self.leaf = node.id

    def up(self, node_id: str | None) -> list[Node]:
        """From this node to its root."""
        found = []
        while node_id is not None:
            found.append(self.node(node_id))
            node_id = found[-1].parent
        return found

    def down(self, node_id: str) -> str:
        """By the child chosen or appended last under each."""
        while node_id in self.chosen:
            node_id = self.chosen[node_id]
        return node_id


class Machine(RuleBasedStateMachine):
    """One process after another on one store; `cuts` says whether the power may go."""

    cuts = True

    def __init__(self) -> None:
        super().__init__()
        self.bench: Path = fast_folder()
        self.threads: dict[str, Thread] = {}
        self.gone: set[str] = set()
        self.kept: dict[str, tuple[Op, str]] = {}
        self.revisions: dict[str, int] = {}
        self.dice = random.Random(0)
        self.names = random.Random(1)  # never set back, as no id comes twice
        self.lives = 0
        self.vfs: RecordingVFS | None = None

    def teardown(self) -> None:
        self.product.close()
        self._unregister()
        shutil.rmtree(self.bench)

    def _unregister(self) -> None:
        if self.vfs is not None:
            self.vfs.unregister()

    def _live(self, image: Image) -> None:
        """A new process on these files."""
        self._unregister()
        self.lives += 1
        folder = self.bench / f"life-{self.lives}"
        folder.mkdir()
        for name, content in image.items():
            (folder / name).write_bytes(content)
        self.start, self.log = image, Log()
        self.vfs = RecordingVFS(f"machine-{id(self)}-{self.lives}", self.log)
        self.product = Product(Places(str(folder)), vfs=self.vfs.name, seed=self.names.getrandbits(60))

    @initialize(seed=BITS)
    def begin(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._live({})

    # ---- what is sent ----

    def _send(self, op: Op, learn: Callable[[Answer], None], refused: str = "") -> None:
        """Send one op; with cuts, perhaps the power goes in the middle, and the client sends it again."""
        op = {"submissionId": self._id(), **op}
        if self.cuts and self.dice.random() < 0.15:
            self._die_inside(op)
        answer = self.product.do(op)
        assert answer.get("code", "") == refused, answer
        self.kept[op["submissionId"]] = op, answer["_text"]
        if not refused:
            learn(answer)

    def _die_inside(self, op: Op) -> None:
        self.log.kill_at(self.log.changes + self.dice.randint(0, 14))
        self.product.do(op)
        self._power_cut()

    def _power_cut(self) -> None:
        self.product.abandon()
        disk = Disk(self.start).feed_all(self.log.notes)
        ways = (disk.durable, disk.cache, lambda: disk.subset(self.dice), lambda: disk.torn(self.dice))
        self._live(self.dice.choice(ways)())

    def _id(self) -> str:
        text = f"{self.names.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"

    def _pick(self, trashed: bool = False) -> str | None:
        return self.dice.choice([key for key, thread in self.threads.items() if thread.trashed == trashed] or [None])

    def _pick_node(self) -> tuple[str, Node] | None:
        keys = [key for key, thread in self.threads.items() if thread.nodes and not thread.trashed]
        if not keys:
            return None
        key = self.dice.choice(keys)
        return key, self.dice.choice(self.threads[key].nodes)

    @rule(title=st.text(max_size=12), bits=BITS)
    def create(self, title: str, bits: int) -> None:
        self.dice.seed(bits)
        key = self._id()
        op = {"type": "thread.create", "threadId": key, "title": title}

        def learn(_answer: Answer) -> None:
            self.threads[key] = Thread(title.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

        self._send(op, learn)

    @precondition(lambda self: self._pick() is not None)
    @rule(words=st.text(min_size=1, max_size=300), under=st.booleans(), bits=BITS)
    def append(self, words: str, under: bool, bits: int) -> None:
        self.dice.seed(bits)
        key = str(self._pick())
        thread = self.threads[key]
        op: Op = {
            "type": "node.append",
            "threadId": key,
            "nodeType": "system_notice",
            "payload": {"text": words},
        }
        parent = thread.leaf
        if under and thread.nodes:
            parent = op["parentId"] = self.dice.choice(thread.nodes).id

        def learn(answer: Answer) -> None:
            thread.add(Node(answer["nodeId"], parent, words))
            assert answer["seq"] == len(thread.nodes)

        self._send(op, learn)

    @precondition(lambda self: len(self.threads) > 1)
    @rule(bits=BITS)
    def append_under_a_stranger(self, bits: int) -> None:
        """A parent of another thread, or none at all, is refused; nothing changes (E23)."""
        self.dice.seed(bits)
        key = self._pick()
        others = [n.id for other, thread in self.threads.items() if other != key for n in thread.nodes]
        if key is not None:
            op = {"type": "node.append", "threadId": key, "nodeType": "system_notice", "payload": {"text": "?"}}
            self._send(op | {"parentId": self.dice.choice([*others, self._id()])}, lambda _a: None, "not_found")

    @rule(kind=st.sampled_from(("node.delete", "node.restore")), bits=BITS)
    def mark(self, kind: str, bits: int) -> None:
        self.dice.seed(bits)
        picked = self._pick_node()
        if picked is not None:
            key, node = picked
            op = {"type": kind, "threadId": key, "nodeId": node.id}
            self._send(op, lambda _a: setattr(node, "deleted", kind == "node.delete"))

    @rule(bits=BITS)
    def select(self, bits: int) -> None:
        self.dice.seed(bits)
        picked = self._pick_node()
        if picked is None:
            return
        key, node = picked
        thread = self.threads[key]

        def learn(answer: Answer) -> None:
            leaf = answer["leafId"]
            assert node in thread.up(leaf)
            if not any(each.deleted for each in thread.nodes):
                assert leaf == thread.down(node.id)
            for each in thread.up(leaf):
                thread.chosen[each.parent] = each.id
            thread.leaf = leaf

        self._send({"type": "thread.selectBranch", "threadId": key, "nodeId": node.id}, learn)

    @rule(copy=st.sampled_from(("path", "empty")), bits=BITS)
    def fork(self, copy: str, bits: int) -> None:
        self.dice.seed(bits)
        picked = self._pick_node()
        if picked is None:
            return
        key, node = picked
        path = [each for each in self.threads[key].up(node.id)[::-1] if not each.deleted] if copy == "path" else []

        def learn(answer: Answer) -> None:
            made = self.threads[answer["threadId"]] = Thread(self.threads[key].title)
            ids = self.product.tx().all(
                "SELECT n.id FROM nodes n JOIN threads t ON t.k = n.k >> 32 WHERE t.id = ? ORDER BY n.k",
                (answer["threadId"],),
            )
            assert len(ids) == len(path)
            for (new_id,), each in zip(ids, path, strict=True):
                assert new_id != each.id
                made.add(Node(new_id, made.leaf, each.text))

        self._send({"type": "thread.fork", "threadId": key, "atNodeId": node.id, "copy": copy}, learn)

    @rule(purge=st.booleans(), bits=BITS)
    def delete(self, purge: bool, bits: int) -> None:
        self.dice.seed(bits)
        key = self._pick(trashed=purge and self.dice.random() < 0.5)
        if key is None:
            return

        def learn(_answer: Answer) -> None:
            if purge:
                del self.threads[key]
                self.gone.add(key)
            else:
                self.threads[key].trashed = True

        self._send({"type": "thread.delete", "threadId": key, "purge": purge}, learn)

    @rule(bits=BITS)
    def restore(self, bits: int) -> None:
        self.dice.seed(bits)
        key = self._pick(trashed=True)
        if key is not None:
            op = {"type": "thread.restore", "threadId": key}
            self._send(op, lambda _a: setattr(self.threads[key], "trashed", False))

    @precondition(lambda self: self.kept)
    @rule(bits=BITS)
    def send_again(self, bits: int) -> None:
        """The same command again gets the stored answer and does nothing (E34)."""
        self.dice.seed(bits)
        op, text = self.dice.choice(list(self.kept.values()))
        answer = self.product.do(op)
        assert answer["_text"] == text
        assert answer["_replayed"]

    @precondition(lambda self: self.kept)
    @rule(bits=BITS)
    def send_another_under_the_same_name(self, bits: int) -> None:
        """Another payload under the same submissionId is refused, and the first receipt stays."""
        self.dice.seed(bits)
        op, _ = self.dice.choice(list(self.kept.values()))
        other = {"type": "settings.set", "submissionId": op["submissionId"], "patch": {"instructions.global": "x"}}
        assert self.product.do(other)["code"] == "invalid_command"

    @rule()
    def idle(self) -> None:
        self.product.idle()

    @precondition(lambda self: self.cuts)
    @rule(bits=BITS)
    def power_cut(self, bits: int) -> None:
        self.dice.seed(bits)
        self._power_cut()

    # ---- what always holds ----

    @invariant()
    def equal_to_the_model(self) -> None:
        if self.lives == 0:
            return
        tx = self.product.tx()
        assert audit(self.product.store.db) == []
        found = {row[0]: row[1:] for row in tx.all("SELECT id, k, title, leaf, deleted_at, revision FROM threads")}
        assert set(found) == set(self.threads)
        for key, thread in self.threads.items():
            k, title, leaf, deleted_at, revision = found[key]
            rows: list[Any] = tx.all(
                "SELECT n.id, p.id, n.deleted, n.payload ->> 'text', n.k "
                "FROM nodes n LEFT JOIN nodes p ON p.k = n.parent "
                "WHERE n.k > ? << 32 AND n.k < (? + 1) << 32 ORDER BY n.k",
                (k, k),
            )
            assert [row[:3] for row in rows] == [(n.id, n.parent, int(n.deleted)) for n in thread.nodes]
            if not any("\0" in node.text for node in thread.nodes):
                assert [row[3] for row in rows] == [node.text for node in thread.nodes]
            assert [row[4] & 0xFFFF_FFFF for row in rows] == list(range(1, len(rows) + 1))
            at = next((row[0] for row in rows if row[4] == leaf), None)
            assert (title, at, deleted_at is not None) == (thread.title, thread.leaf, thread.trashed)
            assert revision >= self.revisions.get(key, 0), "a revision went back"
            self.revisions[key] = revision
            newest = tx.one(
                "SELECT max(revision) FROM changes WHERE thread = ? AND kind IN ('thread.created', 'thread.updated')",
                (key,),
            )
            assert newest == (revision,), "changes do not tell the newest revision"
        receipts = dict(tx.all("SELECT submission_id, response FROM command_receipts"))
        assert receipts == {key: text for key, (_, text) in self.kept.items()}


class WithoutCuts(Machine):
    """The same without power cuts: the invariants of the tree alone."""

    cuts = False
