"""Commands of every kind, drawn by dice, that make sense for what the store holds by then."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from durability.product import Answer, Op, Product
from sidekeep.store import runs, tree
from sidekeep.store.tx import Tx

_WORDS = ("harbour", "lantern", "ledger", "meadow", "number", "orchard", "panel", "quarry", "river", "灯", "журнал")


@dataclass
class _Thread:
    """What the dice know of one conversation."""

    nodes: list[str] = field(default_factory=list)
    queued: list[str] = field(default_factory=list)
    trashed: bool = False


class Workload:
    """Draws ops; `learn` takes their answers, so that later ops name what is there."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.threads: dict[str, _Thread] = {}
        self.sent: list[Op] = []
        self.things: dict[str, list[str]] = {"folder": [], "preset": [], "rule": [], "memory": []}

    def id(self) -> str:
        return str(uuid.UUID(int=self.dice.getrandbits(128), version=4))

    def text(self, longest: int = 40) -> str:
        return " ".join(self.dice.choice(_WORDS) for _ in range(self.dice.randint(1, longest)))

    def op(self) -> Op:
        """The next op. One in twelve is a command that was sent before."""
        if self.sent and self.dice.random() < 0.08:
            return self.dice.choice(self.sent)
        live = [key for key, thread in self.threads.items() if not thread.trashed]
        draw: Callable[[], Op] = self._create
        if len(live) > 1 or (live and self.dice.random() < 0.8):
            draw = self.dice.choices([made for made, _ in _DRAWS], [weight for _, weight in _DRAWS])[0].__get__(self)
        op = {"submissionId": self.id(), **draw()}
        self.sent.append(op)
        return op

    def group(self, most: int = 6) -> list[Op]:
        return [self.op() for _ in range(self.dice.choice((1, 1, 2, 3, most)))]

    def learn(self, ops: list[Op], answers: list[Answer]) -> None:
        for op, answer in zip(ops, answers, strict=True):
            if answer["type"] == "command.ack":
                self._learn(op, answer)

    def _learn(self, op: Op, answer: Answer) -> None:
        kind = op["type"]
        thread = self.threads.get(op.get("threadId", ""))
        if kind in ("thread.create", "thread.fork"):
            self.threads.setdefault(answer["threadId"], _Thread())
        elif kind == "thread.delete":
            if op.get("purge"):
                self.threads.pop(op["threadId"], None)
            elif thread is not None:
                thread.trashed = True
        elif kind == "thread.restore" and thread is not None:
            thread.trashed = False
        elif thread is not None and ("nodeId" in answer or "userNodeId" in answer):
            thread.nodes.append(answer.get("nodeId") or answer["userNodeId"])
        elif thread is not None and answer.get("queued"):
            thread.queued.append(answer["runId"])
        for name, known in self.things.items():
            made = answer.get(f"{name}Id")
            if made is not None and made not in known:
                known.append(made)

    # ---- what may be drawn ----

    def _thread(self) -> str:
        live = [key for key, thread in self.threads.items() if not thread.trashed]
        return self.dice.choice(live or list(self.threads) or [self.id()])

    def _node(self, thread_id: str) -> str:
        thread = self.threads.get(thread_id)
        return self.dice.choice(thread.nodes) if thread and thread.nodes else self.id()

    def _create(self) -> Op:
        op: Op = {"type": "thread.create", "title": self.text(6), "tags": [self.text(1)]}
        if self.dice.random() < 0.3:
            op["threadId"] = self.id()
        return op

    def _append(self) -> Op:
        thread_id = self._thread()
        kind = self.dice.choice(("user_message", "assistant_message", "system_notice"))
        longest = self.dice.choice((3, 30, 30, 300, 3000))
        payload: dict[str, Any] = {"text": self.text(20)}
        if kind != "system_notice":
            payload = {"content": [{"type": "text", "text": self.text(longest)}]}
        if kind == "assistant_message":
            payload |= {"model": "m", "connectionId": "extract"}
        op: Op = {"type": "node.append", "threadId": thread_id, "nodeType": kind, "payload": payload}
        if self.dice.random() < 0.4:
            op["parentId"] = self._node(thread_id)
        return op

    def _update(self) -> Op:
        patches: list[dict[str, Any]] = [
            {"title": self.text(8)}, {"pinned": self.dice.random() < 0.5}, {"archived": self.dice.random() < 0.2},
            {"tags": [self.text(1), self.text(2)]}, {"unread": self.dice.random() < 0.5}, {"group": self.text(1)},
        ]  # fmt: skip
        return {"type": "thread.update", "threadId": self._thread(), "patch": self.dice.choice(patches)}

    def _on_node(self) -> Op:
        thread_id = self._thread()
        kind = self.dice.choice(("node.delete", "node.delete", "node.restore", "thread.selectBranch"))
        return {"type": kind, "threadId": thread_id, "nodeId": self._node(thread_id)}

    def _fork(self) -> Op:
        thread_id = self._thread()
        copy = self.dice.choice(("path", "path", "empty"))
        return {"type": "thread.fork", "threadId": thread_id, "atNodeId": self._node(thread_id), "copy": copy}

    def _branch_delete(self) -> Op:
        thread_id = self._thread()
        return {"type": "branch.delete", "threadId": thread_id, "leafId": self._node(thread_id)}

    def _trash(self) -> Op:
        trashed = [key for key, thread in self.threads.items() if thread.trashed]
        if trashed and self.dice.random() < 0.6:
            thread_id = self.dice.choice(trashed)
            if self.dice.random() < 0.5:
                return {"type": "thread.restore", "threadId": thread_id}
            return {"type": "thread.delete", "threadId": thread_id, "purge": True}
        return {"type": "thread.delete", "threadId": self._thread(), "purge": self.dice.random() < 0.3}

    def _turn(self) -> Op:
        kind = self.dice.choice(("turn.submit", "turn.submit", "turn.enqueue", "turn.interrupt", "turn.fork"))
        op: Op = {"type": kind, "threadId": self._thread()}
        if kind in ("turn.submit", "turn.enqueue"):
            op["input"] = {"content": [{"type": "text", "text": self.text(60)}]}
        elif kind == "turn.fork":
            op["siblingOfNodeId"] = self._node(op["threadId"])
            op["input"] = {"content": [{"type": "text", "text": self.text(10)}]}
        return op

    def _queue(self) -> Op:
        thread_id = self._thread()
        thread = self.threads.get(thread_id)
        run_id = self.dice.choice(thread.queued) if thread and thread.queued else self.id()
        op: Op = {"type": "queue.remove", "threadId": thread_id, "runId": run_id}
        if self.dice.random() < 0.5:
            op |= {"type": "queue.update", "input": {"content": [{"type": "text", "text": self.text(9)}]}}
        return op

    def _setting(self) -> Op:
        return {"type": "settings.set", "patch": {"instructions.global": self.text(50)}}

    def _thing(self) -> Op:
        name = self.dice.choice(list(self.things))
        known = self.things[name]
        if known and self.dice.random() < 0.3:
            return {"type": f"{name}.delete", f"{name}Id": self.dice.choice(known)}
        if name == "memory":
            return {"type": "memory.set", "key": self.text(1), "value": self.text(30)}
        if name == "rule":
            rule = {"tool": "read_page", "origin": f"https://{self.dice.randint(1, 9)}.example", "verdict": "allow"}
            return {"type": "rule.save", "rule": rule}
        body: dict[str, Any] = {"name": self.text(2)}
        if known and self.dice.random() < 0.5:
            body["id"] = self.dice.choice(known)
        return {"type": f"{name}.save", name: body}


_DRAWS: list[tuple[Callable[[Workload], Op], int]] = [
    (Workload._create, 3), (Workload._append, 16), (Workload._update, 5), (Workload._on_node, 5), (Workload._fork, 2),
    (Workload._branch_delete, 1), (Workload._trash, 2), (Workload._turn, 5), (Workload._queue, 2),
    (Workload._setting, 1), (Workload._thing, 4),
]  # fmt: skip


def runner_step(product: Product) -> None:
    """What a runner does with the oldest open run, in its own transactions: start it, then write its answer."""

    def start(tx: Tx) -> str | None:
        for (run_id,) in tx.all(
            "SELECT id FROM runs WHERE state = 'queued' AND user_node IS NOT NULL ORDER BY k LIMIT 1"
        ):
            run = runs.get(tx, run_id)
            runs.set_state(tx, run, "preparing", attempt=run.attempt + 1, started_at=tx.now)
            runs.set_state(tx, run, "streaming_model")
            return run.id
        return None

    def finish(tx: Tx) -> None:
        run = runs.get(tx, str(run_id))
        thread = tx.thread_by_key(run.thread)
        assert thread is not None
        payload = {"content": [{"type": "text", "text": "Done. " * 40}], "model": "m", "connectionId": "extract"}
        node = tree.append(tx, thread, run.last_node, "assistant_message", payload)
        thread.set("status", "done")
        runs.set_state(tx, run, "completed", last_node=node.k, finished_at=tx.now, stop_reason="end")

    run_id = product.unit(start)
    if run_id is not None:
        product.unit(finish)
