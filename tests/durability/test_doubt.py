"""One sync of a commit fails: what the doorway answers, and how long the mark of it stays."""

from pathlib import Path

import apsw
import pytest

from durability.faults import failed_sync
from durability.recorder import SYNC, Log, recording
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.store import unsynced
from sidekeep.store.doorway import Doorway, Unit
from sidekeep.store.opener import open_store
from sidekeep.store.receipts import Identity
from sidekeep.store.tx import Tx


def _put(key: str, answer: dict[str, str] | None) -> Unit:
    def decide(tx: Tx) -> dict[str, str] | None:
        tx.run("INSERT INTO settings (key, value, updated_at) VALUES (?, '1', ?)", (key, tx.now))
        return answer

    return Unit(decide, Identity("client", new_id(), "settings.set", key))


@pytest.mark.parametrize("count", [1, 3], ids=["alone", "in a group"])
@pytest.mark.parametrize("answer", [None, {"key": "a"}], ids=["empty answer", "answer"])
def test_a_command_is_done_after_one_failed_sync_and_refused_while_none_succeeds(
    bench: Path, count: int, answer: dict[str, str] | None
) -> None:
    log = Log()
    with recording(log) as vfs:
        places = Places(str(bench / "state")).make()
        store = open_store(places, vfs=vfs)
        doorway = Doorway(store)
        failing = [1]

        def fault(_count: int, kind: str, _name: str) -> apsw.Error | None:
            if kind != SYNC or not failing[0]:
                return None
            failing[0] -= 1
            return failed_sync()

        log.fault = fault
        units = [_put(f"first {number}", answer) for number in range(count)]
        doorway.run_group(units)
        assert [unit.error for unit in units] == [None] * count
        assert all(unit.response is not None and "command.ack" in unit.response for unit in units)
        assert not unsynced.is_noted(places)

        failing[0] = 1000
        units = [_put(f"second {number}", answer) for number in range(count)]
        doorway.run_group(units)
        assert [(unit.error is not None and unit.error.retryable, unit.response) for unit in units] == [
            (True, None)
        ] * count
        assert unsynced.is_noted(places)

        failing[0] = 0
        # A group that writes nothing lies over nothing.
        doorway.run_group([Unit(lambda _tx: {"nothing": True})])
        assert unsynced.is_noted(places)
        doorway.run_group(units)
        assert [unit.error for unit in units] == [None] * count
        assert not unsynced.is_noted(places)
        (kept,) = store.db.execute("SELECT count(*) FROM settings").fetchone() or (0,)
        assert kept == 2 * count
        store.close()


def test_work_without_receipt_is_looked_for_after_a_failed_sync(bench: Path) -> None:
    """`settled` finds that it did not take hold, and it runs again; its value comes back without an error."""
    log = Log()
    with recording(log) as vfs:
        store = open_store(Places(str(bench / "state")).make(), vfs=vfs)
        doorway = Doorway(store)
        failing = [True]

        def fault(_count: int, kind: str, _name: str) -> apsw.Error | None:
            if kind != SYNC or not failing:
                return None
            failing.pop()
            return failed_sync()

        def decide(tx: Tx) -> str:
            tx.run("INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', ?)", (tx.now,))
            return "done"

        def settled(tx: Tx) -> str | None:
            return "was done" if tx.one("SELECT 1 FROM settings WHERE key = 'a'") else None

        log.fault = fault
        assert doorway.run(decide, settled) == "done"
        assert not failing
        store.close()
