"""Tables, indexes and triggers that are gone or changed are named, and made anew where nothing more is lost by it."""

from pathlib import Path
from typing import Any

import pytest

from support.damage import behind_its_back, check, faults, mended, rows
from support.stores import temporary_store

Made = dict[str, Any]


def _damage(state: Path, *statements: str) -> None:
    with behind_its_back(state) as db:
        for statement in statements:
            db.execute(statement)


def test_a_whole_store_lacks_nothing(state: Path) -> None:
    report = check(state)
    assert report.sound
    assert report.checked["schema"] > 60


@pytest.mark.parametrize("deep", [False, True])
def test_a_lost_table_is_named_and_made_anew_empty(state: Path, made: Made, deep: bool) -> None:
    """Only what was in it is gone; `folder.list` answers again."""
    before = rows(state)
    _damage(state, "DROP TABLE folders")
    report = check(state, deep=deep)
    assert [(finding.code, finding.id) for finding in report.findings] == [("schema_lost", "folders")]
    done = mended(state, deep=deep)
    assert done.left.sound, done.left.shown()
    with temporary_store(state) as store:
        assert store.open().query("folder.list") == {"folders": []}
    assert {key: value for key, value in before.items() if key[0] != "folders"} == rows(state)


@pytest.mark.parametrize("name", ["search", "search_rows", "search_docsize", "jobs", "rules", "branch_choices"])
def test_what_is_made_from_other_rows_or_held_nothing_comes_back(state: Path, made: Made, name: str) -> None:
    _damage(state, f"DROP TABLE {name}")
    assert set(faults(state)) == {"schema_lost"}
    done = mended(state)
    assert done.left.sound, (done.left.shown(), done.refused)
    with temporary_store(state) as store:
        assert store.open().query("thread.search", query="naïve", limit=1)["hits"] != []


def test_a_lost_or_changed_index_or_trigger_is_made_anew(state: Path) -> None:
    before = rows(state)
    _damage(
        state,
        "DROP INDEX nodes_by_parent",
        "DROP TRIGGER blob_takes_its_chunks",
        "DROP TRIGGER node_marked",
        "CREATE TRIGGER node_marked AFTER UPDATE OF deleted ON nodes BEGIN DELETE FROM nodes WHERE k = NEW.k; END",
    )
    assert faults(state) == {"schema_lost": 2, "schema_changed": 1}
    done = mended(state)
    assert done.left.sound, done.left.shown()
    assert done.mended == {"schema_lost": 2, "schema_changed": 1}
    assert rows(state) == before


@pytest.mark.parametrize("name", ["blobs", "attachments", "pages", "nodes"])
def test_a_lost_table_that_others_hang_on_is_left_to_a_backup(state: Path, name: str) -> None:
    """What still has rows that name it is touched by no repair: the bytes are there for the one who has a backup."""
    _damage(state, f"DROP TABLE {name}")
    chunks = _chunks(state)
    done = mended(state)
    assert not done.left.sound
    assert ("schema_lost", name) in [(finding.code, finding.id) for finding in done.left.findings]
    assert _chunks(state) == chunks


def _chunks(state: Path) -> object:
    with behind_its_back(state) as db:
        return db.execute("SELECT count(*), sum(length(bytes)) FROM blob_chunks").fetchone()


def test_a_store_without_its_receipts_is_another_store(state: Path, made: Made) -> None:
    """No command is done twice: clients hear another id and send nothing by themselves."""
    _damage(state, "DROP TABLE command_receipts")
    done = mended(state)
    assert done.left.sound, done.left.shown()
    with temporary_store(state) as store:
        assert store.open().seen("store.ready")[0]["storeId"] != made["storeId"]
