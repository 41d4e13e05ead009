"""Single bits that flip in the database's file: what changed for a reader has to be named by the check."""

import random
from pathlib import Path

import apsw

from durability.judge import Broken
from durability.product import Product
from durability.workload import Workload, runner_step
from sidekeep.model.places import Places
from sidekeep.store.verify import verify

Rows = dict[tuple[str, object], tuple[object, ...]]
#: What a person said, was told or gave; read as bytes, so that no damage can keep it from being compared.
AUTHORITATIVE = {
    "nodes": "SELECT k, id, parent, type, ts, digest, CAST(payload AS BLOB), deleted, evicted FROM nodes",
    "blobs": "SELECT k, sha256, size FROM blobs",
    "blob_chunks": "SELECT k, bytes FROM blob_chunks",
}
# In no digest, by design: a tombstone can be undone, and these rows' neighbours say the rest.
_OUTSIDE = {"nodes": (7, 8)}


def _rows(db: apsw.Connection) -> Rows | None:
    """Every authoritative row, or None where reading it fails (which is noticed by whoever reads)."""
    found: Rows = {}
    try:
        for table, statement in AUTHORITATIVE.items():
            for row in db.execute(statement):
                found[table, row[0]] = tuple(
                    value for place, value in enumerate(row) if place not in _OUTSIDE.get(table, ())
                )
    except (apsw.Error, UnicodeDecodeError, ValueError):
        return None
    return found


def _make(bench: Path) -> bytes:
    """A store with conversations and attachments, all of it in the database's file."""
    places = Places(str(bench / "flips"))
    product, work = Product(places), Workload(31)
    for _ in range(40):
        ops = work.group()
        work.learn(ops, product.group(ops))
        runner_step(product)
    product.doorway.make_durable()
    product.close()
    return Path(places.database).read_bytes()


def flip_sweep(bench: Path, count: int, dice: random.Random) -> tuple[int, int]:
    """Flip one bit at a time; returns how many flips changed what a reader gets, and how many were named.

    Raises Broken when a changed row is named by nothing.
    """
    sound = _make(bench)
    path = bench / "flipped.db"
    path.write_bytes(sound)
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = DELETE").fetchall()
    before = _rows(db)
    pages = sorted({row[0] for row in db.execute("SELECT pageno FROM dbstat WHERE name IN ('nodes', 'blob_chunks')")})
    db.close()
    sound = path.read_bytes()
    assert before
    changed = named = 0
    for _ in range(count):
        # Most flips where the rows are, the others anywhere.
        place = dice.randrange(len(sound))
        if pages and dice.random() < 0.8:
            place = (dice.choice(pages) - 1) * 4096 + dice.randrange(4096)
        damaged = bytearray(sound)
        damaged[place] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        try:
            db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            after = _rows(db)
        except apsw.Error:
            continue
        if after != before:
            changed += 1
            try:
                sound_says = verify(db, deep=True).sound
            except (apsw.Error, UnicodeDecodeError):
                sound_says = False
            if sound_says:
                raise Broken(f"a bit at {place} changed what a reader gets, and the check found the store sound")
            named += 1
        db.close()
    return changed, named
