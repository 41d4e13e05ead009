"""One flipped bit anywhere in a message: named every time, and turned back by what its digest proves."""

import random
from pathlib import Path
from typing import Any

import apsw
import pytest

from sidekeep.store.doorway import Doorway
from sidekeep.store.repair import repair
from sidekeep.store.verify import verify
from support.damage import behind_its_back, rows, store_of

Made = dict[str, Any]
COLUMNS = ("id", "parent", "type", "ts", "digest", "payload")
FLIPS = 12


def flip(db: apsw.Connection, key: int, column: str, chance: random.Random) -> None:
    """Turn one bit of a column's value, as a disk does: whatever the value then is."""
    (value,) = db.execute(f"SELECT CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) ELSE {column} END "
                          "FROM nodes WHERE k = ?", (key,)).fetchone()  # fmt: skip
    if isinstance(value, int):
        changed: Any = value ^ (1 << chance.randrange(40))
        db.execute(f"UPDATE nodes SET {column} = ? WHERE k = ?", (changed, key))
        return
    place = chance.randrange(len(value))
    changed = value[:place] + bytes((value[place] ^ (1 << chance.randrange(8)),)) + value[place + 1 :]
    db.execute(f"UPDATE nodes SET {column} = CAST(? AS TEXT) WHERE k = ?", (changed, key))


@pytest.mark.parametrize("column", COLUMNS)
def test_flipped_and_turned_back(column: str, made: Made, state: Path) -> None:
    """E13: a check names the message, and the repair gives exactly the row that was there before."""
    chance = random.Random(column)
    before = rows(state)
    nodes = [made["nodes"][n] for n in range(1, 9)] + made["others"][1:5]
    for number in range(FLIPS):
        node = nodes[number % len(nodes)]
        key = before[("nodes", node)][0]
        with behind_its_back(state) as db:
            flip(db, key, column, chance)
        with store_of(state) as store:
            found = verify(store.db, deep=False)
            assert key in {finding.key for finding in found.findings}, found.shown()
            left = repair(store, Doorway(store), found, deep=False, progress=lambda *_: None, copy=False).left
            assert left.sound, left.shown()
        assert rows(state)[("nodes", node)] == before[("nodes", node)]
    assert {key: row for key, row in rows(state).items() if key in before and key[0] == "nodes"} == {
        key: row for key, row in before.items() if key[0] == "nodes"
    }
