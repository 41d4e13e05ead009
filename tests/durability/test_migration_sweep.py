"""A death or a power cut at any change while the schema is updated: the old store or the new one, nothing else."""

import random
import shutil
from pathlib import Path

import apsw
import pytest

from durability.disk import Disk, Image
from durability.judge import content_digest
from durability.product import Product
from durability.recorder import Log, recording
from durability.sweep import cuts
from durability.workload import Workload
from sidekeep.model.errors import SidekeepError, StoreNewer
from sidekeep.model.places import Places
from sidekeep.store.migrations import SCHEMA_FOLDER
from sidekeep.store.opener import open_store

STEPS = {
    "0002_adds.sql": "CREATE TABLE labels (k INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n"
    "ALTER TABLE threads ADD COLUMN mood TEXT;\n",
    "0003_rewrites.sql": "-- raises minWriter\nUPDATE nodes SET evicted = evicted;\n"
    "CREATE INDEX nodes_by_ts ON nodes (ts);\nALTER TABLE memories ADD COLUMN note TEXT;\n",
}
TABLES = ("threads", "nodes", "command_receipts", "changes", "branch_choices", "runs", "memories", "folders")


def rows(db: apsw.Connection) -> list[list[object]]:
    """What a person has, in the columns of the first schema."""
    found: list[list[object]] = []
    for table in TABLES:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in ("mood", "note")]
        found.append(list(db.execute(f"SELECT {', '.join(columns)} FROM {table}")))
    return found


@pytest.fixture
def ladder(bench: Path) -> Path:
    """The product's ladder with an adding and a rewriting step on top."""
    folder = bench / "schema"
    shutil.copytree(SCHEMA_FOLDER, folder)
    newest = max(int(path.name[:4]) for path in folder.glob("[0-9]*.sql"))
    for number, text in enumerate(STEPS.values(), newest + 1):
        (folder / f"{number:04}_laboratory.sql").write_text(text)
    return folder


@pytest.fixture
def old(bench: Path) -> tuple[Image, list[list[object]]]:
    """A store of today with something of everything, as files."""
    places = Places(str(bench / "old"))
    product, work = Product(places), Workload(21)
    for _ in range(25):
        ops = work.group()
        work.learn(ops, product.group(ops))
    held = rows(product.store.db)
    product.close()
    return {name: (bench / "old" / name).read_bytes() for name in ("sidekeep.db", "sidekeep.db-wal")}, held


def lay(places: Places, image: Image) -> None:
    shutil.rmtree(places.state, ignore_errors=True)
    places.make()
    for name, content in image.items():
        (Path(places.state) / name).write_bytes(content)


def newest_of(folder: Path) -> int:
    return max(int(path.name[:4]) for path in folder.glob("[0-9]*.sql"))


def check_update(places: Places, ladder: Path, held: list[list[object]]) -> None:
    """The next opening ends with the new schema and every row as it was."""
    store = open_store(places, schema_folder=str(ladder))
    try:
        assert store.db.execute("SELECT value FROM meta WHERE key = 'schemaVersion'").fetchone() == (newest_of(ladder),)
        assert store.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert rows(store.db) == held
    finally:
        store.close()


def test_a_death_at_any_change_leaves_the_old_store_or_the_new(
    bench: Path, ladder: Path, old: tuple[Image, list[list[object]]]
) -> None:
    """Killed at any change, the program of before finds its own store or refuses a newer one; the update run again
    ends in the same place (E4, E6)."""
    image, held = old
    places = Places(str(bench / "store"))
    number, outcomes = 0, set()
    while True:
        lay(places, image)
        log = Log()
        log.kill_at(number)
        with recording(log) as vfs:
            try:
                open_store(places, vfs=vfs, schema_folder=str(ladder)).close()
                died = log.dead
            except SidekeepError:
                died = True
        log.revive()
        try:
            before = open_store(places)
            outcomes.add("old")
            assert rows(before.db) == held
            before.close()
        except StoreNewer:
            outcomes.add("new")
        check_update(places, ladder, held)
        if not died:
            break
        number += 3
    assert outcomes == {"old", "new"}
    assert number > 30


@pytest.mark.parametrize(
    ("every", "images"), [(12, 3), pytest.param(1, 12, marks=pytest.mark.long)], ids=["quick", "full"]
)
def test_a_power_cut_at_any_change_leaves_the_old_store_or_the_new(
    bench: Path, ladder: Path, old: tuple[Image, list[list[object]]], every: int, images: int
) -> None:
    """Whatever of the unsynced writes reached the disk, the update run again ends with every row (E4, E6)."""
    image, held = old
    places = Places(str(bench / "store"))
    lay(places, image)
    log = Log()
    with recording(log) as vfs:
        open_store(places, vfs=vfs, schema_folder=str(ladder)).close()
    copies = list(Path(places.backups).glob("*.db"))
    assert len(copies) == 1, "a copy is made before the schema changes"
    copy = apsw.Connection(str(copies[0]), flags=apsw.SQLITE_OPEN_READONLY)
    assert rows(copy) == held
    copy.close()
    disk, dice, judged = Disk(image), random.Random(5), Places(str(bench / "image"))
    for number, note in enumerate(log.notes):
        disk.feed(note)
        if number % every:
            continue
        for _, cut in cuts(disk, dice, images):
            lay(judged, cut)
            check_update(judged, ladder, held)


def test_two_hosts_on_an_old_store_update_it_once(
    bench: Path, ladder: Path, old: tuple[Image, list[list[object]]]
) -> None:
    """Started at once, exactly one migrates and both serve (E8)."""
    import threading

    image, held = old
    places = Places(str(bench / "store"))
    lay(places, image)
    found: list[str] = []

    def serve() -> None:
        store = open_store(places, schema_folder=str(ladder))
        found.append(content_digest(store.db))
        store.close()

    hosts = [threading.Thread(target=serve) for _ in range(2)]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join()
    assert len(found) == 2
    assert found[0] == found[1]
    assert len(list(Path(places.backups).glob("*.db"))) == 1
    check_update(places, ladder, held)
