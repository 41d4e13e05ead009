"""The opener: settings that are really set, one schema for all, and a newer store that is left as it is."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from sidekeep.model.errors import Internal, StorageCorrupt, StoreBusy, StoreNewer
from sidekeep.model.places import Places
from sidekeep.store import locks, migrations
from sidekeep.store.connection import check_sqlite
from sidekeep.store.opener import Store, open_store
from sidekeep.store.tx import Tx


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(str(tmp_path / "state")).make()


@pytest.fixture
def ladder(tmp_path: Path) -> Path:
    """A copy of the steps that a test may add to."""
    folder = tmp_path / "schema"
    shutil.copytree(migrations.SCHEMA_FOLDER, folder)
    return folder


def _add(ladder: Path, sql: str) -> int:
    number = len(migrations.ladder(str(ladder))) + 1
    (ladder / f"{number:04}_more.sql").write_text(sql)
    return number


def _settings(db: apsw.Connection) -> dict[str, object]:
    names = ("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "wal_autocheckpoint", "page_size")
    return {name: db.pragma(name) for name in names}


def test_every_connection_has_the_settings_of_the_promise(places: Places) -> None:
    store = open_store(places)
    try:
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0,
                  "wal_autocheckpoint": 0, "page_size": 4096}  # fmt: skip
        assert _settings(store.db) == wanted
        reader = store.reader()
        assert _settings(reader) == wanted
        with pytest.raises(apsw.ReadOnlyError):
            reader.execute("UPDATE meta SET value = 1")
        store.reconnect()
        assert _settings(store.db) == wanted
    finally:
        store.close()


def test_a_store_and_its_folder_are_their_owner_s_alone(places: Places) -> None:
    open_store(places).close()
    for path in (places.database, places.database + "-wal"):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(places.state).st_mode) == 0o700


def test_a_log_is_kept_at_close_and_the_id_stays(places: Places) -> None:
    first = open_store(places)
    first.db.execute("BEGIN IMMEDIATE; UPDATE meta SET value = value WHERE key = 'schemaVersion'; COMMIT")
    first.close()
    assert os.stat(places.database + "-wal").st_size > 0
    second = open_store(places)
    second.close()
    assert second.store_id == first.store_id


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.7.0"])
def test_an_sqlite_that_loses_commits_is_refused(version: str) -> None:
    """3.7.0 to 3.51.2 can lose a commit when two connections write and checkpoint together (E17)."""
    with pytest.raises(Internal, match=r"3\.51\.3 or newer"):
        check_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "4.0.0"])
def test_a_sound_sqlite_is_taken(version: str) -> None:
    """From 3.51.3 on (E17)."""
    check_sqlite(version)


def _digests(places: Places) -> dict[str, str]:
    """Of each file, by another process: in this one, closing a file would drop SQLite's locks."""
    code = "import hashlib, sys; print(*(hashlib.sha256(open(p, 'rb').read()).hexdigest() for p in sys.argv[1:]))"
    files = [places.database, places.database + "-wal"]
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    return dict(zip(files, done.stdout.split(), strict=True))


def test_a_newer_store_is_refused_and_not_touched(places: Places, ladder: Path) -> None:
    number = _add(ladder, "-- raises minWriter\nCREATE TABLE later (x INTEGER) STRICT;")
    open_store(places, schema_folder=str(ladder)).close()
    before = _digests(places)
    with pytest.raises(StoreNewer) as refused:
        open_store(places)
    assert refused.value.extra == {"storeVersion": number}
    assert _digests(places) == before


def test_a_newer_step_that_older_programs_may_write_beside_is_no_reason_to_refuse(places: Places, ladder: Path) -> None:
    _add(ladder, "CREATE TABLE later (x INTEGER) STRICT;")
    open_store(places, schema_folder=str(ladder)).close()
    store = open_store(places)
    assert store.db.execute("SELECT count(*) FROM later").fetchone() == (0,)
    store.close()


def test_a_migration_keeps_a_checked_copy_of_what_was(places: Places, ladder: Path) -> None:
    store = open_store(places)
    Tx(store.db, 1, lambda: "x").run("INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)")
    version = migrations.versions(store.db).schema
    store.close()
    _add(ladder, "-- raises minWriter\nDROP TABLE settings;")
    told: list[str] = []
    store = open_store(places, schema_folder=str(ladder), progress=lambda what, _pct: told.append(what))
    assert migrations.versions(store.db).min_writer == version + 1
    store.close()
    assert told == ["backing up before an update", "updating the store"]
    (copy,) = Path(places.backups).iterdir()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    old = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    assert old.execute("SELECT value FROM settings").fetchall() == [("1",)]
    old.close()


def test_a_migration_that_fails_leaves_the_old_store(places: Places, ladder: Path) -> None:
    open_store(places).close()
    _add(ladder, "CREATE TABLE half (x INTEGER) STRICT;\nINSERT INTO nowhere VALUES (1);")
    with pytest.raises(Internal):
        open_store(places, schema_folder=str(ladder))
    store = open_store(places)
    assert store.db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'half'").fetchone() is None
    store.close()


def test_an_exclusive_step_waits_for_those_who_use_the_old_schema(places: Places, ladder: Path) -> None:
    user = open_store(places)
    _add(ladder, "-- raises minWriter\nCREATE TABLE later (x INTEGER) STRICT;")
    told: list[str] = []
    with pytest.raises(StoreBusy, match="older version"):
        open_store(places, schema_folder=str(ladder), patience=0.1, progress=lambda what, _pct: told.append(what))
    assert "waiting for an older version to end" in told
    assert not os.path.exists(places.backups) or not os.listdir(places.backups)
    user.close()
    open_store(places, schema_folder=str(ladder)).close()


def test_opening_is_one_at_a_time(places: Places) -> None:
    held = locks.open_lock_file(places.open_lock)
    assert locks.lock(held, locks.EXCLUSIVE, wait=False)
    with pytest.raises(StoreBusy, match="opening"):
        open_store(places, patience=0.1)
    os.close(held)
    open_store(places).close()


def test_the_first_opener_makes_what_is_in_the_log_durable(places: Places) -> None:
    """A commit that was read from the page cache is on both disks before anyone is answered."""
    first = open_store(places)
    first.db.execute("BEGIN IMMEDIATE; CREATE TABLE mark (x INTEGER) STRICT; COMMIT")
    assert _frames(first) > 0
    beside = open_store(places)  # joins a living process: nothing to do
    assert _frames(beside) == _frames(first)
    beside.close()
    first.close()
    again = open_store(places)
    total, copied = again.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1:]
    assert total == copied
    again.close()
    # What the log held is in the database file itself: it is read without its log.
    alone = Path(places.state) / "alone.db"
    subprocess.run([sys.executable, "-c", "import shutil, sys; shutil.copyfile(*sys.argv[1:])", places.database,
                    str(alone)], check=True)  # fmt: skip
    db = apsw.Connection(str(alone), flags=apsw.SQLITE_OPEN_READONLY)
    db.close()
    store = apsw.Connection(f"file:{alone}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    assert store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'mark'").fetchone() == (1,)
    store.close()


def _frames(store: Store) -> int:
    return os.stat(store.places.database + "-wal").st_size


def test_a_store_that_lost_its_head_is_no_new_store(places: Places) -> None:
    open_store(places).close()
    assert os.stat(places.database + "-wal").st_size > 0
    subprocess.run([sys.executable, "-c", "import os, sys; os.truncate(sys.argv[1], 0)", places.database], check=True)
    with pytest.raises(StorageCorrupt, match="nothing was touched"):
        open_store(places)
    assert os.stat(places.database).st_size == 0


def test_another_program_s_database_is_left_alone(places: Places) -> None:
    db = apsw.Connection(places.database)
    db.execute("CREATE TABLE notes (x)")
    db.close()
    with pytest.raises(StorageCorrupt, match="another program"):
        open_store(places)
    db = apsw.Connection(places.database)
    assert db.execute("SELECT name FROM sqlite_schema").fetchall() == [("notes",)]
    db.close()


@pytest.mark.parametrize("version", [0, -1, "none"])
def test_a_store_whose_version_is_none_is_not_made_anew(places: Places, version: object) -> None:
    """A store that has tables has a version: what says otherwise is damaged, and no step is run on it."""
    open_store(places).close()
    db = apsw.Connection(places.database)
    db.execute("UPDATE meta SET value = ? WHERE key = 'schemaVersion'", (version,))
    db.close()
    with pytest.raises(StorageCorrupt, match="version cannot be read"):
        open_store(places)


def test_the_steps_have_no_gap(ladder: Path) -> None:
    steps = migrations.ladder(str(ladder))
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    (ladder / f"{len(steps) + 2:04}_gap.sql").write_text("")
    with pytest.raises(AssertionError, match="gap"):
        migrations.ladder(str(ladder))


@pytest.mark.parametrize(
    "history", ["backups/before-repair-1.db", "sessions/index.json", "sessions/projects/default/x"]
)
def test_an_empty_file_where_a_store_was_is_no_new_store(places: Places, history: str) -> None:
    """It is refused with what to do, and stays as it is; moved away, a new store is made."""
    kept = Path(places.state, history)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"kept")
    empty = Path(places.database)
    empty.touch()
    for _ in range(2):
        with pytest.raises(StorageCorrupt, match=r"was a store.*`backups`.*move the empty file away"):
            open_store(places)
        assert empty.stat().st_size == 0
        assert not Path(places.database + "-wal").exists()
    empty.unlink()
    open_store(places).close()
    assert kept.read_bytes() == b"kept"


def test_an_empty_file_of_a_first_start_that_died_is_a_new_store(places: Places) -> None:
    Path(places.database).touch()
    for _ in range(2):
        open_store(places).close()
    assert Path(places.database).stat().st_size > 0
