"""The ladder of schema steps, each a file of `schema/`, and the guard against newer stores."""

import os
from typing import NamedTuple

import apsw

from sidekeep.model.errors import StorageCorrupt, StoreNewer

SCHEMA_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema")


class Step(NamedTuple):
    """One file `NNNN_name.sql`; `exclusive` when its first lines say that it raises minWriter."""

    number: int
    name: str
    sql: str
    exclusive: bool


class Versions(NamedTuple):
    """What `meta` says of a store; `schema` is 0 for an empty file."""

    schema: int
    min_writer: int
    store_id: str | None


def ladder(folder: str = SCHEMA_FOLDER) -> list[Step]:
    """All steps in order; their numbers are 1, 2, 3 … without a gap."""
    steps = []
    for file_name in sorted(os.listdir(folder)):
        name, dot_sql = os.path.splitext(file_name)
        if dot_sql != ".sql" or not name[:1].isdigit():
            continue
        with open(os.path.join(folder, file_name), encoding="utf-8") as file:
            text = file.read()
        steps.append(Step(int(name[:4]), name, text, "-- raises minWriter" in text))
    assert [step.number for step in steps] == list(range(1, len(steps) + 1)), "the ladder has a gap"
    return steps


def versions(db: apsw.Connection) -> Versions:
    """Read what the file is. Raises StorageCorrupt for a database that is not ours."""
    if not db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
        return Versions(0, 0, None)
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone():
        raise StorageCorrupt("sidekeep.db is another program's database; move it away and start again.")
    found = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('schemaVersion','minWriter','storeId')"))
    try:
        read = Versions(int(found["schemaVersion"]), int(found["minWriter"]), str(found["storeId"]))
        if read.schema < 1:
            raise ValueError("a store that has tables has a version")
        return read
    except (KeyError, TypeError, ValueError):
        raise StorageCorrupt(
            "The store's version cannot be read; restore a backup or run `sidekeep verify --repair`."
        ) from None


def check_writable(found: Versions, newest: int) -> None:
    """Raises StoreNewer when this program is too old to write the store."""
    if found.min_writer > newest:
        raise StoreNewer(
            f"The store has version {found.schema} and needs a program that knows version {found.min_writer}; "
            f"this one knows {newest}. Update Sidekeep (the file was not touched).",
            storeVersion=found.schema,
        )


def pending(found: Versions, steps: list[Step]) -> list[Step]:
    return [step for step in steps if step.number > found.schema]


def apply(db: apsw.Connection, steps: list[Step], store_id: str | None) -> None:
    """Run the steps in one transaction: afterwards the file is the old one or the new one."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for step in steps:
            for _ in db.execute(step.sql):
                pass
            db.execute("UPDATE meta SET value = ? WHERE key = 'schemaVersion'", (step.number,))
            if step.exclusive:
                db.execute("UPDATE meta SET value = ? WHERE key = 'minWriter'", (step.number,))
        if store_id is not None:
            db.execute("INSERT INTO meta (key, value) VALUES ('storeId', ?)", (store_id,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
