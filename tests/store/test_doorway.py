"""The one door for writes: groups in one transaction, an outcome for each unit, and nothing that ends it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from sidekeep.model.errors import Internal, InvalidCommand, NotFound, StorageCorrupt
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway, Unit
from sidekeep.store.opener import Store, open_store
from sidekeep.store.receipts import Identity
from sidekeep.store.tx import Tx

CLIENT = "0198a0c0-0000-7000-8000-000000000001"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = open_store(Places(str(tmp_path / "state")).make())
    yield found
    found.close()


def _put(key: str) -> Unit:
    def decide(tx: Tx) -> dict[str, str]:
        tx.run("INSERT INTO settings (key, value, updated_at) VALUES (?, '1', ?)", (key, tx.now))
        return {"key": key}

    return Unit(decide, Identity(CLIENT, new_id(), "settings.set", key))


def _raising(error: BaseException, key: str = "spoiled") -> Unit:
    def decide(tx: Tx) -> None:
        tx.run("INSERT INTO settings (key, value, updated_at) VALUES (?, '1', ?)", (key, tx.now))
        raise error

    return Unit(decide, Identity(CLIENT, new_id(), "settings.set", key))


def _keys(store: Store) -> set[str]:
    return {key for (key,) in store.db.execute("SELECT key FROM settings")}


def _receipts(store: Store) -> dict[str, str]:
    return dict(store.db.execute("SELECT request_fingerprint, status FROM command_receipts"))


def _commits(store: Store) -> list[int]:
    """Counts commits of the store's connection from now on."""
    counted: list[int] = []

    def count() -> bool:
        counted.append(1)
        return False  # the commit goes on

    store.db.set_commit_hook(count)
    return counted


def test_a_group_is_one_commit(store: Store) -> None:
    doorway, counted = Doorway(store), _commits(store)
    units = [_put(f"k{number}") for number in range(20)]
    doorway.run_group(units)
    assert len(counted) == 1
    assert _keys(store) == {f"k{number}" for number in range(20)}
    assert all(unit.error is None and '"command.ack"' in (unit.response or "") for unit in units)


def test_a_refusal_takes_back_its_own_work_and_nothing_else_and_leaves_a_receipt(store: Store) -> None:
    doorway, counted = Doorway(store), _commits(store)
    units = [_put("a"), _raising(NotFound("not there"), "b"), _put("c")]
    doorway.run_group(units)
    assert len(counted) == 1
    assert _keys(store) == {"a", "c"}
    assert _receipts(store) == {"a": "acknowledged", "b": "rejected", "c": "acknowledged"}
    assert units[1].error is not None
    assert units[1].error.code == "not_found"


@pytest.mark.parametrize("error", [ZeroDivisionError("oops"), apsw.FullError("disk"), Internal("odd"), KeyError("x")])
def test_any_other_error_makes_the_group_run_one_by_one(store: Store, error: Exception) -> None:
    doorway, counted = Doorway(store), _commits(store)
    units = [_put("a"), _raising(error, "b"), _put("c")]
    doorway.run_group(units)
    assert len(counted) == 2
    assert _keys(store) == {"a", "c"}
    assert [unit.error is None for unit in units] == [True, False, True]
    assert "b" not in _receipts(store)  # nobody knows yet what will become of it: sent again it runs again
    doorway.run_group([_put("d")])
    assert "d" in _keys(store)


def test_what_the_disk_says_of_a_damaged_store_ends_writing_and_not_reading(store: Store) -> None:
    doorway = Doorway(store)
    doorway.run_group([_put("a")])
    hurt, after = _raising(apsw.CorruptError("malformed")), _put("b")
    doorway.run_group([hurt])
    doorway.run_group([after])
    assert isinstance(hurt.error, StorageCorrupt)
    assert isinstance(after.error, StorageCorrupt)
    assert _keys(store) == {"a"}


def test_the_same_command_again_gets_its_first_answer_and_does_nothing(store: Store) -> None:
    doorway = Doorway(store)
    first = _put("a")
    doorway.run_group([first])
    again = Unit(first.decide, first.identity)
    doorway.run_group([again, _put("b")])
    assert again.replayed
    assert again.response == first.response
    other = Unit(first.decide, Identity(CLIENT, first.identity.submission_id, "settings.set", "another payload"))  # type: ignore[union-attr]
    doorway.run_group([other])
    assert isinstance(other.error, InvalidCommand)
    assert _receipts(store) == {"a": "acknowledged", "b": "acknowledged"}


def test_the_same_command_twice_in_one_group_is_done_once(store: Store) -> None:
    first = _put("a")
    second = Unit(first.decide, first.identity)
    Doorway(store).run_group([first, second])
    assert second.replayed
    assert second.response == first.response
    assert _keys(store) == {"a"}


def test_a_row_that_a_refused_unit_changed_is_read_anew_by_the_next(store: Store) -> None:
    """Rows of threads are shared within a group; one that was rolled back must not be."""
    from sidekeep.store import threads

    doorway = Doorway(store)
    thread_id: str = doorway.run(lambda tx: threads.create(tx, {"title": "First"}).id)

    def spoil(tx: Tx) -> None:
        row = threads.live(tx, thread_id)
        row.set("title", "Spoiled")
        tx.finish()
        raise NotFound("after all not")

    seen: list[tuple[str, int]] = []

    def look(tx: Tx) -> None:
        row = threads.live(tx, thread_id)
        seen.append((row.title, row.revision))

    def rename(tx: Tx) -> None:
        threads.live(tx, thread_id).set("title", "Second")

    doorway.run_group([Unit(look), Unit(spoil), Unit(look), Unit(rename), Unit(look)])
    assert seen[-3:] == [("First", 1), ("First", 1), ("Second", 2)]


def test_a_log_that_was_replaced_is_noticed_before_anything_is_written(store: Store) -> None:
    doorway = Doorway(store)
    doorway.run_group([_put("a")])
    log = store.places.database + "-wal"
    code = "import os, shutil, sys; shutil.copyfile(*sys.argv[1:]); os.replace(sys.argv[2], sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, log, log + ".new"], check=True)
    lines: list[str] = []
    doorway._log = lines.append
    unit = _put("b")
    doorway.run_group([unit])
    assert unit.error is None
    assert any("replaced" in line for line in lines)
    fresh = open_store(store.places)
    assert _keys(fresh) == {"a", "b"}
    fresh.close()


def test_leaving_is_undone_when_work_came_meanwhile(store: Store) -> None:
    doorway = Doorway(store)
    let_go: list[bool] = []
    assert not doorway.leave(lambda _tx: True, lambda: let_go.append(True))
    assert not let_go
    assert doorway.leave(lambda _tx: False, lambda: let_go.append(True))
    assert let_go == [True]
    assert not store.db.in_transaction


def test_the_log_gets_its_size_once_and_holds_no_more(store: Store) -> None:
    doorway = Doorway(store)
    doorway.run_group([_put("a")])
    assert doorway.allocate_log()
    size = os.stat(store.places.database + "-wal").st_size
    assert size >= 16 * 1024 * 1024
    assert not doorway.allocate_log()
    doorway.run_group([_put("b")])
    assert os.stat(store.places.database + "-wal").st_size == size
    assert store.db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'padding'").fetchone() is None
    assert _keys(store) == {"a", "b"}
