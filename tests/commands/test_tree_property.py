"""Random edits, deletions and switches: every message stays reachable, and what is shown is what the parents say."""

import random
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import said, text

STEPS = 60


class Model:
    """What a test remembers of the tree: each node's parent, and which are tombstones. Children are derived."""

    def __init__(self, port: HostClient, dice: random.Random) -> None:
        self.port = port
        self.dice = dice
        self.thread = str(port.ack("thread.create")["threadId"])
        self.parents: dict[str, str | None] = {}
        self.users: set[str] = set()
        self.deleted: set[str] = set()

    def effective(self, node: str | None) -> str | None:
        """The nearest that is visible, from here upwards."""
        while node is not None and node in self.deleted:
            node = self.parents[node]
        return node

    def path(self, leaf: str | None) -> list[str]:
        found = []
        while leaf is not None:
            if leaf not in self.deleted:
                found.append(leaf)
            leaf = self.parents[leaf]
        return found[::-1]

    def siblings(self, node: str) -> list[str]:
        above = self.effective(self.parents[node])
        return [other for other in self.parents if other not in self.deleted and self.hangs(other) == above]

    def hangs(self, node: str) -> str | None:
        return self.effective(self.parents[node])

    def tips(self) -> list[str]:
        above = {self.hangs(node) for node in self.parents if node not in self.deleted}
        return [node for node in self.parents if node not in self.deleted and node not in above]

    def below(self, node: str, leaf: str) -> bool:
        at: str | None = leaf
        while at is not None and at != node:
            at = self.parents[at]
        return at == node

    # --- what a person may do ---

    def step(self) -> None:
        acts: list[Any] = [self.append, self.append, self.append_under, self.select, self.delete, self.restore]
        self.dice.choice([*acts, self.edit, self.delete_branch])()

    def append(self) -> None:
        leaf = self.shown()["thread"]["leafId"]
        self._append({}, leaf)

    def append_under(self) -> None:
        if self.parents:
            parent = self.dice.choice([*self.parents])
            self._append({"parentId": parent}, parent)

    def _append(self, members: dict[str, str], parent: str | None) -> None:
        user = self.dice.random() < 0.5
        node = self.port.ack(
            "node.append",
            threadId=self.thread,
            nodeType="user_message" if user else "assistant_message",
            payload=text("x") if user else said("x"),
            **members,
        )["nodeId"]
        self.parents[node] = parent
        if user:
            self.users.add(node)

    def edit(self) -> None:
        if self.users:
            node = self.dice.choice(sorted(self.users))
            answer = self.port.ack("turn.fork", threadId=self.thread, siblingOfNodeId=node, input=text("edited"))
            self.port.ack("turn.interrupt", threadId=self.thread)
            self.parents[answer["userNodeId"]] = self.parents[node]
            self.users.add(answer["userNodeId"])

    def select(self) -> None:
        if self.parents:
            node = self.dice.choice([*self.parents])
            leaf = self.port.ack("thread.selectBranch", threadId=self.thread, nodeId=node)["leafId"]
            assert self.below(node, leaf)
            if any(self.below(node, other) for other in self.parents if other not in self.deleted):
                assert leaf not in self.deleted
                assert leaf in self.tips()

    def delete(self) -> None:
        if self.parents:
            node = self.dice.choice([*self.parents])
            self.port.ack("node.delete", threadId=self.thread, nodeId=node)
            self.deleted.add(node)

    def restore(self) -> None:
        if self.deleted:
            node = self.dice.choice(sorted(self.deleted))
            self.port.ack("node.restore", threadId=self.thread, nodeId=node)
            self.deleted.discard(node)

    def delete_branch(self) -> None:
        tips = self.tips()
        if tips:
            tip = self.dice.choice(tips)
            kept = set(self.tips()) - {tip}
            self.port.ack("branch.delete", threadId=self.thread, leafId=tip)
            tail: list[str] = []
            at: str | None = tip
            while at is not None and (at == tip or self.hanging(at) < 2):
                tail.append(at)
                at = self.parents[at]
            self.deleted.update(tail)
            assert kept <= set(self.tips())

    def hanging(self, node: str) -> int:
        """How many visible nodes hang from this one, directly or through tombstones only."""
        count = 0
        for other in self.parents:
            at = self.parents[other] if other not in self.deleted else None
            while at is not None and at != node and at in self.deleted:
                at = self.parents[at]
            count += at == node
        return count

    # --- what has to hold after each ---

    def shown(self) -> dict[str, Any]:
        return dict(self.port.query("thread.subscribe", threadId=self.thread))

    def check(self) -> None:
        shown = self.shown()
        assert [node["id"] for node in shown["nodes"]] == self.path(shown["thread"]["leafId"])[-200:]
        for node in shown["nodes"]:
            assert node["parentId"] == self.parents[node["id"]]
            assert node["effectiveParentId"] == self.hangs(node["id"])
            entry = shown["siblings"][node["id"]]
            expected = self.siblings(node["id"])
            assert (entry["ids"], entry["count"]) == (expected, len(expected))
            assert entry["index"] == expected.index(node["id"])
        branches = self.port.query("branch.list", threadId=self.thread)["branches"]
        assert [branch["leafId"] for branch in branches] == self.tips()
        assert {branch["leafId"]: branch["count"] for branch in branches} == {
            tip: len(self.path(tip)) for tip in self.tips()
        }

    def check_reachable(self) -> None:
        for node in self.parents:
            if node not in self.deleted:
                self.port.ack("thread.selectBranch", threadId=self.thread, nodeId=node)
                assert node in [one["id"] for one in self.shown()["nodes"]]


@pytest.mark.parametrize("seed", range(8))
def test_every_node_stays_reachable_from_its_root(port: HostClient, seed: int) -> None:
    """E21: random edit, regenerate, delete and switch keeps every node reachable; children are derived."""
    model = Model(port, random.Random(seed))
    for _ in range(STEPS):
        model.step()
        model.check()
    model.check_reachable()
    model.check()
