"""What a model reads of a conversation: golden files, each a tree and the context that is derived from it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from sidekeep.store import tree
from sidekeep.store.tx import Tx
from sidekeep.turns.context import session_context
from support.conversation import context_at, id_of, opened, plain, tell

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"), key=lambda path: path.name)


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_the_context_is_the_golden_one(path: Path, tmp_path: Path) -> None:
    """First document, section 4: from the leaf to the root, neutral messages, newest turn context, visible path."""
    told = json.loads(path.read_text("utf-8"))
    with opened(tmp_path) as (store, doorway):
        tell(doorway, told)
        found = context_at(store, told["at"], vision=told.get("vision", False))
    assert [plain(message) for message in found.messages] == told["messages"], told["what"]
    assert found.turns == told["turns"]
    assert found.turn_context == told["turnContext"]
    assert [node.id for node in found.path] == [id_of(name) for name in told["path"]]


def test_a_parent_that_is_gone_cuts_the_path_there(tmp_path: Path) -> None:
    """A hole in the tree: what stands below it is read, nothing loops."""
    nodes = [_user("u1", None), _user("u2", "u1"), _user("u3", "u2")]
    with opened(tmp_path) as (store, doorway):
        tell(doorway, {"nodes": nodes})
        store.db.pragma("foreign_keys", False)
        store.db.execute("DELETE FROM nodes WHERE id = ?", (id_of("u2"),))
        found = context_at(store, "u3")
    assert [message.text for message in found.messages] == ["u3"]


@pytest.mark.parametrize("seed", range(6))
def test_a_path_among_many_branches_is_found_whole(tmp_path: Path, seed: int) -> None:
    """However the arrivals of branches are mixed, the path is the chain of parents (range reads and walks agree)."""
    chance = random.Random(seed)
    nodes: list[dict[str, Any]] = [_user("0", None)]
    parents: dict[str, str | None] = {"0": None}
    for number in range(1, 1500):
        # Few branches for one seed, many for another: both ways of reading are used.
        lately = 1 if chance.random() < (0.97, 0.5)[seed % 2] else 700
        parent = str(max(0, number - chance.randint(1, lately)))
        nodes.append(_user(str(number), parent))
        parents[str(number)] = parent
    with opened(tmp_path) as (store, doorway):
        tell(doorway, {"nodes": nodes})
        for leaf in ("1499", str(chance.randrange(1500)), str(chance.randrange(1500))):
            chain = []
            at: str | None = leaf
            while at is not None:
                chain.append(at)
                at = parents[at]
            assert [message.text for message in context_at(store, leaf).messages] == chain[::-1]


def test_the_same_conversation_gives_the_same_context_but_for_fresh_nonces(tmp_path: Path) -> None:
    """Deriving changes nothing, and no nonce comes twice."""
    told = json.loads((Path(__file__).parent / "golden" / "attachments_seen.json").read_text("utf-8"))
    with opened(tmp_path) as (store, doorway):
        tell(doorway, told)
        before = store.db.execute("SELECT count(*), max(seq) FROM changes").fetchone()
        tx = Tx(store.db, 0, lambda: "")
        row = tx.thread(id_of("thread"))
        assert row is not None
        leaf = tree.find(tx, row, id_of(told["at"])).k
        one, two = (session_context(tx, leaf, vision=True) for _ in range(2))
        assert store.db.execute("SELECT count(*), max(seq) FROM changes").fetchone() == before
    marks = [block.before for found in (one, two) for block in found.messages[0].content if hasattr(block, "before")]
    assert len(marks) == len(set(marks)) == 6
    assert [m.role for m in one.messages] == [m.role for m in two.messages]


def _user(name: str, under: str | None) -> dict[str, Any]:
    payload = {"content": [{"type": "text", "text": name}]}
    return {"is": name, "under": under, "type": "user_message", "payload": payload}
