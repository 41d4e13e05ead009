"""The check of a whole store: pages, conversations, bytes, receipts, changes; nothing is written.

It sees the store as it was when it began, whatever is written meanwhile. Every fault is named, with what a repair
would do about it.
"""

from collections.abc import Callable

import apsw

from sidekeep.store import (
    verify_blobs,
    verify_pages,
    verify_rows,
    verify_schema,
    verify_search,
    verify_texts,
    verify_tree,
)
from sidekeep.store.verify_findings import Finding, Look, Progress, Report

PARTS: tuple[Callable[[Look, Report], None], ...] = (
    verify_pages.check,
    verify_tree.check,
    verify_blobs.check,
    verify_rows.check,
    verify_search.check,
    verify_texts.check,
)


def _silent(_what: str, _done: int, _total: int) -> None:
    """The progress of callers that show none."""


def verify(db: apsw.Connection, *, deep: bool = False, progress: Progress = _silent) -> Report:
    """Check everything; `deep` reads every byte of attachments and what indexes hold, too.

    What `progress` raises ends the check.
    """
    report, look = Report(deep, progress), Look(db)
    db.execute("BEGIN")
    try:
        # Where a table is gone nothing else is looked at: what names its rows would look like damage.
        if verify_schema.check(look, report):
            for part in PARTS:
                part(look, report)
    except apsw.CorruptError as error:
        report.damaged("The file", error)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    return report


__all__ = ["PARTS", "Finding", "Progress", "Report", "verify"]
