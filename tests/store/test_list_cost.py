"""What a page of the list costs, counted in steps of SQLite's machine and not in time."""

from pathlib import Path

from sidekeep.model.places import Places
from sidekeep.store import threads, tree
from sidekeep.store.doorway import Doorway, Unit
from sidekeep.store.opener import Store, open_store
from sidekeep.store.tx import Tx

PAGE = 50
WORDS = {"content": [{"type": "text", "text": "A message"}]}


def _filled(state: Path, count: int, messages: int) -> Store:
    store = open_store(Places(str(state)).make())

    def fill(tx: Tx) -> None:
        for number in range(count):
            row = threads.create(tx, {"title": f"Conversation {number}"})
            for _ in range(messages):
                tree.append(tx, row, row.leaf, "user_message", WORDS)

    unit = Unit(fill)
    Doorway(store).run_group([unit])
    assert unit.error is None
    return store


def _steps(store: Store, cursor: str | None = None) -> int:
    """How many steps one page takes; the statement is compiled before they are counted."""
    found: list[int] = []
    for _ in range(2):
        count = 0

        def step() -> bool:
            nonlocal count
            count += 1
            return False

        store.db.set_progress_handler(step, 1)
        try:
            page = threads.listing(Tx(store.db, 0, str), limit=PAGE, cursor=cursor)
        finally:
            store.db.set_progress_handler(None)
        assert len(page["threads"]) == PAGE
        found.append(count)
    return found[-1]


def test_a_page_of_the_list_costs_the_same_in_any_store(tmp_path: Path) -> None:
    """Counters are kept in the threads' rows and no message is read: neither more conversations nor longer ones make
    a page dearer (E46)."""
    few = _filled(tmp_path / "few", 60, 1)
    many = _filled(tmp_path / "many", 2000, 1)
    long = _filled(tmp_path / "long", 60, 40)
    try:
        first = _steps(few)
        assert first > PAGE
        assert _steps(many) <= first * 1.05
        assert _steps(long) <= first * 1.05
        near, far = (threads.listing(Tx(many.db, 0, str), limit=limit)["cursor"] for limit in (100, 1900))
        assert _steps(many, far) <= _steps(many, near) * 1.05
    finally:
        for store in (few, many, long):
            store.close()
