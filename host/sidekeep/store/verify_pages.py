"""Lets SQLite check the file itself: pages, indexes, constraints, the search index, and references between rows."""

import apsw

from sidekeep.store.verify_findings import SALVAGE, Look, Report

MOST_MESSAGES = 200
MOST_LINES = 3
_INDEX = (
    "missing from index",
    "wrong # of entries in index",
    "non-unique entry in index",
    "rowid not at end-of-record",
)
_SEARCH = ("fts5", "search")


def check(db: Look, report: Report) -> None:
    """`integrity_check` when deep, else `quick_check`, which leaves out what indexes hold; then foreign keys."""
    pragma = "integrity_check" if report.deep else "quick_check"
    report.progress("pages of the file", 0, 0)
    try:
        with db.calling(lambda: report.progress("pages of the file", 0, 0)):
            for (message,) in db.rows(f"PRAGMA {pragma}({MOST_MESSAGES})"):
                if message != "ok":
                    _sort(report, message)
    except apsw.CorruptError as error:
        report.damaged("The file", error)
    report.checked[pragma] += 1
    _check_references(db, report)


def _sort(report: Report, message: str) -> None:
    low = message.lower()
    lines = [line for line in message.splitlines() if not line.startswith("***")]
    message = "; ".join(lines[:MOST_LINES]) + (
        f"; and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    )
    if any(mark in low for mark in _INDEX):
        report.fault(
            "index_damaged", f"An index does not hold what its table holds: {message}.", "build the indexes anew"
        )
    elif any(mark in low for mark in _SEARCH) and "tree" not in low:
        report.fault("search_damaged", f"The search index is damaged: {message}.", "build the search index anew")
    elif "constraint failed" in low or " value in " in low or "null value" in low:
        # The rows themselves are named by the checks of what they hold.
        report.fault("row_damaged", f"A row holds what its table does not allow: {message}.", "as its own finding says")
    else:
        report.unreadable = True
        report.fault("pages_damaged", f"The file is damaged: {message}.", SALVAGE)


def _check_references(db: Look, report: Report) -> None:
    """Rows that name one that is not there. Nodes are left to the check of the tree, which says more."""
    for table in tables(db):
        if table == "nodes":
            continue
        try:
            seen: set[tuple[str, int]] = set()
            for _table, _row, parent, number in db.rows(f'PRAGMA foreign_key_check("{table}")'):
                if (parent, number) not in seen:
                    seen.add((parent, number))
                    report.fault(
                        "reference",
                        f"Rows of {table} name rows of {parent} that are not there.",
                        "do with them what the removal of those rows does",
                        more=(table, number),
                    )
        except apsw.CorruptError as error:
            report.damaged(f"The table {table}", error)


_TABLES = (
    "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' "
    "AND name NOT LIKE 'sqlite_%' ORDER BY name"
)


def tables(db: Look) -> list[str]:
    """The ordinary tables, those behind the search index left out."""
    try:
        return [name for (name,) in db.rows(_TABLES)]
    except apsw.CorruptError:
        return []
