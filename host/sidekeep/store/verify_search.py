"""Checks that the search index knows what is there and nothing else, as far as it says that it has come."""

import apsw

from sidekeep.store.sql import statements
from sidekeep.store.verify_findings import Look, Report

sql = statements(__file__)

ANEW = "build the search index anew"


def check(db: Look, report: Report) -> None:
    report.progress("search", 0, 0)
    try:
        left_over = db.number(sql.left_over)
        unnamed, documents, named = db.some(sql.documents)
        report.checked["search"] += named
        if left_over or unnamed:
            message = f"The search index finds {left_over + unnamed} things that are gone."
            report.fault("search_left_over", message, "take them out of the index")
        if named and not documents:
            report.fault("search_damaged", "The search index has lost all its words.", ANEW)
        since, newest = db.some(sql.position)
        # Behind is no fault: what was committed since is indexed before the next search is answered.
        missing = db.number(sql.missing) if since == newest else 0
        if missing:
            message = f"The search index does not find {missing} messages, titles or pages that are here."
            report.fault("search_damaged", message, ANEW)
    except apsw.CorruptError as error:
        report.damaged("The search index", error)
