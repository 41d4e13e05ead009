"""Steers: what a user adds to the turn that runs; each waits in its row until it becomes a message of the run."""

from typing import Any

import msgspec

from sidekeep.model.errors import QueueFull
from sidekeep.store import tree
from sidekeep.store.runs import QUEUE_LIMIT, RunRow
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)


def add(tx: Tx, run: RunRow, turn_input: dict[str, Any]) -> None:
    """Keep a steer for the run. Raises QueueFull while eight wait already."""
    if len(tx.all(sql.waiting, (run.k,))) >= QUEUE_LIMIT:
        raise QueueFull(f"{QUEUE_LIMIT} additions wait for this answer already.")
    tx.run(sql.insert, (run.k, tx.now, dumps(turn_input)))


def any_waiting(tx: Tx, run: RunRow) -> bool:
    return tx.one(sql.one_waiting, (run.k,)) is not None


def take_in(tx: Tx, thread: ThreadRow, run: RunRow, parent: int | None, *, move: bool) -> int:
    """Write all that wait as `user_message` nodes with `steered`, one under the other; returns how many.

    `parent` is where the run appends now, `move` whether the leaf goes with it. The run's last node follows.
    """
    count = 0
    for key, text in tx.all(sql.waiting, (run.k,)):
        said = {name: value for name, value in msgspec.json.decode(text).items() if value or name == "content"}
        node = tree.append(tx, thread, parent, "user_message", {**said, "steered": True}, move=move)
        tx.run(sql.take, (key,))
        tx.run(sql.last_node, (node.k, run.k))
        parent = run.last_node = node.k
        count += 1
    return count
