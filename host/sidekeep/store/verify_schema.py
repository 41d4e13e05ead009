"""Checks that the store has the tables, indexes and triggers that its version's steps make, as they make them."""

import apsw

from sidekeep.store import migrations
from sidekeep.store.verify_findings import Look, Report

#: Empty ones in their place would have conversations, or bytes that are still here, taken for lost.
BACKUP_ONLY = frozenset(("meta", "threads", "nodes", "attachments", "blobs", "pages"))
_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
_VERSION = "SELECT value FROM meta WHERE key = 'schemaVersion'"


def wanted(version: int) -> dict[tuple[str, str], str]:
    """`(type, name)` → the statement that makes it, for what the steps up to a version make, in their order."""
    db = apsw.Connection(":memory:")
    try:
        for step in migrations.ladder():
            if step.number <= version:
                for _ in db.execute(step.sql):
                    pass
        return {(kind, name): text for kind, name, text in db.execute(_OBJECTS)}
    finally:
        db.close()


def check(db: Look, report: Report) -> bool:
    """Whether every table is there: else nothing more can be said, nor mended, without guessing what was in it."""
    try:
        found = {(kind, name): text for kind, name, text in db.rows(_OBJECTS)}
        version = db.number(_VERSION) if ("table", "meta") in found else migrations.ladder()[-1].number
    except apsw.CorruptError as error:
        report.damaged("The list of tables", error)
        return True
    whole = True
    if version > migrations.ladder()[-1].number:
        return whole  # what a newer program has made is not known here
    for (kind, name), text in wanted(version).items():
        report.checked["schema"] += 1
        there = found.get((kind, name))
        if there is None:
            whole = whole and kind != "table"
            report.fault(
                "schema_lost", f"The {kind} {name} is gone.", _remedy(kind, name), id=name, more=(kind, name, version)
            )
        elif there.split() != text.split():
            report.fault(
                "schema_changed",
                f"The {kind} {name} is not as this version makes it.",
                "" if kind == "table" else "make it anew",
                id=name,
                more=(kind, name, version),
            )
    return whole


def _remedy(kind: str, name: str) -> str:
    if kind != "table":
        return "make it anew"
    if name in BACKUP_ONLY:
        return ""
    return "build the search index anew" if is_of_search(name) else "make it anew, empty: what it held is lost already"


def is_of_search(name: str) -> bool:
    """The virtual table and those behind it, which are made and dropped together."""
    return name == "search" or (name.startswith("search_") and name != "search_rows")
