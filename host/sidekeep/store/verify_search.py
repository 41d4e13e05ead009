"""Checks that the search index knows what is there and nothing else, as far as it says that it has come."""

import apsw

from sidekeep.store.search_index import node_text
from sidekeep.store.sql import statements
from sidekeep.store.verify_findings import Look, Report
from sidekeep.store.words import indexed

sql = statements(__file__)

ANEW = "build the search index anew"


def check(db: Look, report: Report) -> None:
    report.progress("search", 0, 0)
    try:
        left_over = db.number(sql.left_over)
        unnamed = db.number(sql.unnamed)
        report.checked["search"] += db.number(sql.named)
        if left_over or unnamed:
            message = f"The search index finds {left_over + unnamed} things that are gone."
            report.fault("search_left_over", message, "take them out of the index")
        since, newest = db.some(sql.position)
        # Behind is no fault: what was committed since is indexed before the next search is answered.
        missing = db.number(sql.missing) if since == newest else 0
        missing += sum(_has_words(kind, text) for kind, text in db.rows(sql.wordless))
        if missing:
            message = f"The search index does not find {missing} messages, titles or pages that are here."
            report.fault("search_damaged", message, ANEW)
    except apsw.CorruptError as error:
        report.damaged("The search index", error)


def _has_words(kind: str, text: bytes | None) -> bool:
    """Would the index hold a word of this? What cannot be decoded has a finding of its own."""
    plain = (text or b"").decode("utf-8", "replace")
    return any(indexed(node_text(plain) if kind == "node" else plain))
