"""Stores of a wanted size, written through the product's own door."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure.pipe import TEXT
from sidekeep.model.places import Places
from sidekeep.store import threads, tree
from sidekeep.store.doorway import Doorway, Unit
from sidekeep.store.opener import Store, open_store
from sidekeep.store.tx import Tx

GROUP = 500


def opened(state: Path) -> tuple[Store, Doorway]:
    """A store in this process."""
    store = open_store(Places(str(state)).make())
    return store, Doorway(store)


def in_groups(doorway: Doorway, count: int, do: Callable[[Tx, int], Any]) -> None:
    """`do(tx, i)` for each i, some hundred in a transaction."""
    for start in range(0, count, GROUP):
        numbers = range(start, min(count, start + GROUP))

        def some(tx: Tx, numbers: range = numbers) -> None:
            for number in numbers:
                do(tx, number)

        unit = Unit(some)
        doorway.run_group([unit])
        if unit.error is not None:
            raise unit.error
    doorway.checkpoint()


def message(number: int, role: str = "user_message") -> dict[str, Any]:
    """A payload of about 600 bytes."""
    content = [{"type": "text", "text": f"{number}: {TEXT}"}]
    if role == "user_message":
        return {"content": content}
    return {"content": content, "model": "bench", "connectionId": "extract", "stopReason": "end"}


def thread_of(doorway: Doorway, nodes: int, forks: int) -> str:
    """A thread of `nodes` nodes, `forks` of which hang beside the active path, evenly along it."""
    (thread_id,) = many_threads(doorway, 1)
    keys: list[int] = []

    def add(tx: Tx, parent: int | None, number: int, *, move: bool) -> int:
        row = threads.live(tx, thread_id)
        role = "user_message" if number % 2 == 0 else "assistant_message"
        return tree.append(tx, row, parent, role, message(number, role), move=move).k

    def grow(tx: Tx, number: int) -> None:
        keys.append(add(tx, keys[-1] if keys else None, number, move=True))

    def branch(tx: Tx, number: int) -> None:
        add(tx, keys[number * len(keys) // forks], number, move=False)

    in_groups(doorway, nodes - forks, grow)
    in_groups(doorway, forks, branch)
    return thread_id


def many_threads(doorway: Doorway, count: int) -> list[str]:
    """Threads with a title and nothing in them."""
    found: list[str] = []

    def make(tx: Tx, number: int) -> None:
        found.append(threads.create(tx, {"title": f"Conversation {number}"}).id)

    in_groups(doorway, count, make)
    return found
