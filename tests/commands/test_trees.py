"""Branches and tombstones: every way to move in a conversation's tree, and what is shown of it."""

import uuid
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import Store, said, text


class Tree:
    """One thread, whose nodes a test names by what they say."""

    def __init__(self, port: HostClient) -> None:
        self.port = port
        self.thread = str(port.ack("thread.create")["threadId"])
        self.ids: dict[str, str] = {}

    def user(self, name: str, under: str | None = None) -> str:
        return self._append(name, "user_message", text(name), under)

    def answer(self, name: str, under: str | None = None) -> str:
        return self._append(name, "assistant_message", said(name), under)

    def _append(self, name: str, kind: str, payload: dict, under: str | None) -> str:
        parent = {} if under is None else {"parentId": self.ids[under]}
        answer = self.port.ack("node.append", threadId=self.thread, nodeType=kind, payload=payload, **parent)
        self.ids[name] = answer["nodeId"]
        return str(answer["nodeId"])

    def ack(self, op: str, **names: str) -> dict:
        return self.port.ack(op, threadId=self.thread, **{member: self.ids[name] for member, name in names.items()})

    def names(self, ids: Any) -> list[str]:
        known = {node: name for name, node in self.ids.items()}
        return [known[node] for node in ids]

    def shown(self, port: HostClient | None = None) -> dict:
        return dict((port or self.port).query("thread.subscribe", threadId=self.thread))

    def path(self, port: HostClient | None = None) -> list[str]:
        return self.names(node["id"] for node in self.shown(port)["nodes"])

    def branches(self) -> dict[str, dict]:
        found = self.port.query("branch.list", threadId=self.thread)["branches"]
        return {self.names([branch["leafId"]])[0]: branch for branch in found}

    def siblings(self, name: str) -> list[str]:
        entry = self.shown()["siblings"][self.ids[name]]
        assert entry["count"] == len(entry["ids"])
        assert entry["ids"][entry["index"]] == self.ids[name]
        return self.names(entry["ids"])


def grown(port: HostClient) -> Tree:
    """A conversation of two turns, the second answered three times, the last answer followed up."""
    found = Tree(port)
    found.user("q1")
    found.answer("a1")
    found.user("q2")
    found.answer("a2")
    found.answer("b2", under="q2")
    found.user("q3")
    found.answer("c2", under="q2")
    found.user("q4")
    found.answer("a4")
    return found


@pytest.fixture
def tree(port: HostClient) -> Tree:
    """
    q1 ─ a1 ─ q2 ┬ a2
                 ├ b2 ─ q3
                 └ c2 ─ q4 ─ a4   (the leaf)
    """
    return grown(port)


def test_a_node_goes_under_the_leaf_and_moves_it(tree: Tree) -> None:
    """`node.append` without `parentId` goes under the leaf; `seq` counts arrivals without a gap."""
    shown = tree.shown()
    assert tree.path() == ["q1", "a1", "q2", "c2", "q4", "a4"]
    assert [node["seq"] for node in shown["nodes"]] == [1, 2, 3, 7, 8, 9]
    assert shown["thread"]["leafId"] == tree.ids["a4"]
    assert shown["before"] is None
    for node, above in zip(shown["nodes"][1:], shown["nodes"], strict=False):
        assert node["parentId"] == node["effectiveParentId"] == above["id"]
    assert shown["nodes"][0]["parentId"] is None
    assert shown["nodes"][0]["effectiveParentId"] is None


def test_a_parent_of_nowhere_is_refused(tree: Tree) -> None:
    """E23: a parent that does not exist, or of another thread, is refused with `not_found`."""
    other = Tree(tree.port)
    other.user("elsewhere")
    for parent in (str(uuid.uuid4()), other.ids["elsewhere"]):
        refusal = tree.port.refused(
            "node.append", threadId=tree.thread, parentId=parent, nodeType="user_message", payload=text("x")
        )
        assert refusal["code"] == "not_found"
    assert tree.path() == ["q1", "a1", "q2", "c2", "q4", "a4"]


def test_a_payload_is_checked_where_it_enters(tree: Tree) -> None:
    """Unknown members and wrong types are refused by name, of each type that may be appended."""
    for kind, payload, named in (
        ("user_message", {"content": [{"type": "text", "text": "x", "more": 1}]}, "more"),
        ("user_message", {"content": "x"}, "content"),
        ("assistant_message", {"content": []}, "model"),
        ("system_notice", {"text": "x", "content": []}, "content"),
        ("tool_call", {}, "nodeType"),
    ):
        refusal = tree.port.refused("node.append", threadId=tree.thread, nodeType=kind, payload=payload)
        assert (refusal["code"], named in refusal["message"]) == ("invalid_command", True), refusal["message"]


def test_siblings_are_told_with_index_count_and_ids(tree: Tree) -> None:
    """What the switcher 3/3 counts: siblings in the order of their arrival."""
    assert tree.siblings("c2") == ["a2", "b2", "c2"]
    assert tree.siblings("q1") == ["q1"]
    assert tree.siblings("q4") == ["q4"]


def test_a_branch_is_entered_down_to_its_leaf(tree: Tree) -> None:
    """`thread.selectBranch` → ack `leafId`: down from the node."""
    assert tree.names([tree.ack("thread.selectBranch", nodeId="b2")["leafId"]]) == ["q3"]
    assert tree.path() == ["q1", "a1", "q2", "b2", "q3"]
    assert tree.names([tree.ack("thread.selectBranch", nodeId="a2")["leafId"]]) == ["a2"]
    assert tree.path() == ["q1", "a1", "q2", "a2"]


def test_the_child_chosen_last_is_remembered_under_each_fork(store: Store) -> None:
    """E24: the chosen child per fork survives choices and answers elsewhere, a restart, and a second window."""
    tree = grown(store.open())
    tree.ack("thread.selectBranch", nodeId="b2")  # under q2: b2 is chosen
    tree.user("r3", under="b2")  # under b2: r3 is appended last
    tree.answer("s3")
    tree.ack("thread.selectBranch", nodeId="q3")  # under b2: q3 is chosen
    tree.user("z1", under="a1")  # a fork higher up: z1 beside q2
    assert tree.path() == ["q1", "a1", "z1"]
    tree.port.kill()
    tree.port = store.open()
    assert tree.path() == ["q1", "a1", "z1"]
    assert tree.names([tree.ack("thread.selectBranch", nodeId="q2")["leafId"]]) == ["q3"]
    assert tree.path() == tree.path(store.open()) == ["q1", "a1", "q2", "b2", "q3"]
    tree.ack("thread.selectBranch", nodeId="z1")
    assert tree.names([tree.ack("thread.selectBranch", nodeId="q1")["leafId"]]) == ["z1"]


def test_appending_elsewhere_is_a_choice_too(tree: Tree) -> None:
    """Down by the child last chosen or last appended under each fork."""
    tree.ack("thread.selectBranch", nodeId="a2")
    tree.user("n3", under="a2")
    tree.answer("d2", under="q2")
    assert tree.names([tree.ack("thread.selectBranch", nodeId="q1")["leafId"]]) == ["d2"]


def test_branches_are_listed_with_what_leads_to_them(tree: Tree) -> None:
    """`branch.list` → leafId, name, count, ts, active."""
    found = tree.branches()
    assert {name: branch["count"] for name, branch in found.items()} == {"a2": 4, "q3": 5, "a4": 6}
    assert {name for name, branch in found.items() if branch["active"]} == {"a4"}
    assert {name: branch["name"] for name, branch in found.items()} == {"a2": "q2", "q3": "q3", "a4": "q4"}
    assert all(branch["ts"] > 0 for branch in found.values())


def test_a_tombstone_is_hidden_and_its_children_hang_higher(tree: Tree) -> None:
    """`node.delete`: children read as the effective parent's; siblings and counts go by it."""
    tree.ack("node.delete", nodeId="c2")
    assert tree.path() == ["q1", "a1", "q2", "q4", "a4"]
    shown = {node["id"]: node for node in tree.shown()["nodes"]}
    hung = shown[tree.ids["q4"]]
    assert (hung["parentId"], hung["effectiveParentId"]) == (tree.ids["c2"], tree.ids["q2"])
    assert tree.siblings("q4") == ["a2", "b2", "q4"]
    tree.ack("node.restore", nodeId="c2")
    assert tree.path() == ["q1", "a1", "q2", "c2", "q4", "a4"]
    assert tree.siblings("c2") == ["a2", "b2", "c2"]


def test_deleting_the_leaf_leaves_it_on_the_tombstone(tree: Tree) -> None:
    """The next message goes under the tombstone, and is shown under what is visible above."""
    tree.ack("node.delete", nodeId="a4")
    assert tree.shown()["thread"]["leafId"] == tree.ids["a4"]
    assert tree.path() == ["q1", "a1", "q2", "c2", "q4"]
    tree.user("q5")
    node = tree.shown()["nodes"][-1]
    assert (node["parentId"], node["effectiveParentId"]) == (tree.ids["a4"], tree.ids["q4"])


def test_deleting_the_root_leaves_a_tree_without_it(tree: Tree) -> None:
    """A tombstone may be a root: its children are shown as roots."""
    tree.ack("node.delete", nodeId="q1")
    assert tree.path() == ["a1", "q2", "c2", "q4", "a4"]
    assert tree.shown()["nodes"][0]["effectiveParentId"] is None
    assert tree.siblings("a1") == ["a1"]


def test_deleting_and_restoring_twice_is_once(tree: Tree) -> None:
    """Both are idempotent; a second one changes nothing."""
    first = tree.shown()
    tree.ack("node.delete", nodeId="c2")
    once = tree.shown()
    tree.ack("node.delete", nodeId="c2")
    assert tree.shown() == once
    tree.ack("node.restore", nodeId="c2")
    tree.ack("node.restore", nodeId="c2")
    assert tree.shown()["nodes"] == first["nodes"]


def test_each_change_of_the_tree_raises_the_revision(tree: Tree) -> None:
    """Revisions on every change: a stale base is noticed also when only a message was deleted."""
    for op, member, name in (
        ("node.delete", "nodeId", "a4"),
        ("node.restore", "nodeId", "a4"),
        ("thread.selectBranch", "nodeId", "a2"),
        ("branch.delete", "leafId", "q3"),
    ):
        before = tree.shown()["thread"]["revision"]
        tree.ack(op, **{member: name})
        after = tree.shown()["thread"]["revision"]
        assert after == before + 1, op
        assert tree.port.event("thread.updated", threadId=tree.thread, revision=after)
    before = tree.shown()["thread"]["revision"]
    tree.user("more")
    assert tree.shown()["thread"]["revision"] == before + 1


def test_no_branch_leads_into_what_was_deleted(tree: Tree) -> None:
    """Branch walks use the effective parent: a tombstone that leads nowhere is no branch."""
    tree.ack("node.delete", nodeId="q3")
    tree.ack("node.delete", nodeId="b2")
    assert set(tree.branches()) == {"a2", "a4"}
    tree.ack("node.delete", nodeId="a4")
    tree.ack("node.delete", nodeId="q4")
    tree.ack("node.delete", nodeId="c2")
    assert set(tree.branches()) == {"a2"}
    assert tree.path() == ["q1", "a1", "q2"]
    # The only visible child of q2 is a2, whatever was appended or chosen last.
    assert tree.names([tree.ack("thread.selectBranch", nodeId="q1")["leafId"]]) == ["a2"]
    assert tree.path() == ["q1", "a1", "q2", "a2"]


def test_a_branch_behind_a_tombstone_is_still_entered(tree: Tree) -> None:
    """A tombstone with visible children is walked through, not around."""
    tree.ack("node.delete", nodeId="b2")
    assert tree.names([tree.ack("thread.selectBranch", nodeId="q3")["leafId"]]) == ["q3"]
    assert tree.path() == ["q1", "a1", "q2", "q3"]
    assert tree.names([tree.ack("thread.selectBranch", nodeId="q2")["leafId"]]) == ["q3"]


def test_a_deleted_branch_is_its_tail_and_no_more(tree: Tree) -> None:
    """`branch.delete`: the tail becomes tombstones; what other branches share stays; the leaf goes elsewhere."""
    tree.ack("branch.delete", leafId="a4")
    assert set(tree.branches()) == {"a2", "q3"}
    shown = tree.shown()
    assert tree.path()[:3] == ["q1", "a1", "q2"]
    assert shown["nodes"][-1]["id"] in (tree.ids["a2"], tree.ids["q3"])
    tree.ack("node.restore", nodeId="c2")  # undo is possible, message by message
    assert "c2" in tree.branches()


def test_deleting_another_branch_does_not_move_the_view(tree: Tree) -> None:
    """Only the branch in view is left when it is deleted."""
    tree.ack("branch.delete", leafId="q3")
    assert tree.path() == ["q1", "a1", "q2", "c2", "q4", "a4"]
    assert tree.siblings("c2") == ["a2", "c2"]
    assert tree.port.refused("branch.delete", threadId=tree.thread, leafId=tree.ids["q2"])["code"] == "invalid_command"


def test_deleting_the_branch_in_view_leaves_it_also_with_the_leaf_on_a_tombstone(tree: Tree) -> None:
    """The leaf may lie on a tombstone below the tip that is shown: the view still goes to a living branch."""
    tree.ack("node.delete", nodeId="a4")
    assert {name for name, branch in tree.branches().items() if branch["active"]} == {"q4"}
    tree.ack("branch.delete", leafId="q4")
    assert tree.path()[-1] in ("a2", "q3")
    assert sum(branch["active"] for branch in tree.branches().values()) == 1


def test_deleting_every_branch_leaves_an_empty_thread_that_can_go_on(tree: Tree) -> None:
    """Nothing dangles when nothing is left."""
    for _ in range(10):
        tips = list(tree.branches())
        if not tips:
            break
        tree.ack("branch.delete", leafId=tips[0])
    assert tree.path() == []
    tree.user("again")
    assert tree.path() == ["again"]
    assert tree.siblings("again") == ["again"]


def test_followers_are_told_of_each_node(tree: Tree) -> None:
    """To subscribers: `thread.node {threadId, node}`, with what a snapshot would have of it."""
    tree.shown()
    tree.ack("node.delete", nodeId="c2")
    told = tree.port.event("thread.node", threadId=tree.thread, where=lambda event: event["node"].get("deleted"))
    assert told["node"]["id"] == tree.ids["c2"]
    assert told["node"]["seq"] == 7
    tree.user("q5")
    told = tree.port.event(
        "thread.node", threadId=tree.thread, where=lambda event: event["node"]["id"] == tree.ids["q5"]
    )
    assert told["node"] == tree.shown()["nodes"][-1]


def test_two_roots_are_siblings(port: HostClient) -> None:
    """Editing the first message makes a second root; the switcher counts both."""
    tree = Tree(port)
    tree.user("one")
    tree.port.ack("turn.interrupt", threadId=tree.thread)
    answer = tree.port.ack("turn.fork", threadId=tree.thread, siblingOfNodeId=tree.ids["one"], input=text("two"))
    tree.ids["two"] = answer["userNodeId"]
    assert tree.path() == ["two"]
    assert tree.siblings("two") == ["one", "two"]
