"""Full-text search over messages, notices, titles and kept pages.

Hits are taken newest first, some dozens at a time, and ranked among those; the cursor goes on behind them.
"""

from typing import Any, NamedTuple

from sidekeep.model.errors import InvalidCommand
from sidekeep.store import search_index
from sidekeep.store.search_query import Query, understood
from sidekeep.store.snippets import score, shown, snippet
from sidekeep.store.sql import statements
from sidekeep.store.tx import Row, Tx

sql = statements(__file__)

WINDOW = 30
#: Rows that one query looks at, at most; then it answers with what it has and a cursor.
LOOKED_AT = 5000
_KINDS = {"messages": "node", "pages": "page", "titles": "title"}


class Filters(NamedTuple):
    """What hits are restricted to; `thread` is a key, `within` of `messages`, `pages`, `titles`."""

    thread: int | None = None
    within: list[str] | None = None
    site: str | None = None
    since: int | None = None
    until: int | None = None


class _Place(NamedTuple):
    """Where a query goes on: among the hits of `tier` below the row `before`, behind the `skip` best of the window."""

    tier: int
    before: int
    skip: int


class _Hit(NamedTuple):
    score: float
    row: Row
    text: str
    folded: str


def find(tx: Tx, query: str, filters: Filters, limit: int, cursor: str | None = None) -> dict[str, Any]:
    """`{"hits","cursor"}`. Raises InvalidCommand for a cursor of another list."""
    asked = understood(query)
    place = _place_of(cursor, 1 if asked is None else len(asked.tiers))
    hits: list[dict[str, Any]] = []
    if asked is None:
        return {"hits": hits, "cursor": None}
    if place is None:
        (newest,) = tx.one(sql.newest) or (1,)
        place = _Place(0, newest, 0)
    where, values = _conditions(filters)
    looked_at = 0
    window = max(WINDOW, limit + limit // 2)
    goes_on: _Place | None = place
    while goes_on is not None and len(hits) < limit and looked_at < LOOKED_AT:
        place = goes_on
        rows = tx.all(
            f"{sql.hits}{where} ORDER BY s.rowid DESC LIMIT {window}", (asked.tiers[place.tier], place.before, *values)
        )
        looked_at += len(rows)
        ranked = _ranked(tx, rows, asked)
        wanted = ranked[place.skip : place.skip + limit - len(hits)]
        hits += (_shown(hit, asked) for hit in wanted)
        taken = place.skip + len(wanted)
        goes_on = _next(place, rows, window, taken, len(ranked), len(asked.tiers))
    return {"hits": hits, "cursor": None if goes_on is None else ".".join(map(str, goes_on))}


def _next(place: _Place, rows: list[Row], window: int, taken: int, ranked: int, tiers: int) -> _Place | None:
    if taken < ranked:
        return place._replace(skip=taken)
    if len(rows) == window:
        return _Place(place.tier, rows[-1][0], 0)
    return _Place(place.tier + 1, 2**62, 0) if place.tier + 1 < tiers else None


def _place_of(cursor: str | None, tiers: int) -> _Place | None:
    if cursor is None:
        return None
    parts = cursor.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        raise InvalidCommand("cursor: not one that this search gave.")
    place = _Place(*map(int, parts))
    if place.tier >= tiers or place.before > 2**62:
        raise InvalidCommand("cursor: not one that this search gave.")
    return place


def _conditions(filters: Filters) -> tuple[str, list[Any]]:
    where = ""
    values: list[Any] = []
    if filters.within is not None:
        kinds = [f"'{_KINDS[name]}'" for name in filters.within]
        where += f" AND r.kind IN ({', '.join(kinds)})"
    if filters.thread is not None:
        where += (
            " AND ((r.kind = 'node' AND r.ref > ? AND r.ref < ?) OR (r.kind = 'title' AND r.ref = ?)"
            " OR (r.kind = 'page' AND p.thread = ?))"
        )
        values += [filters.thread << 32, (filters.thread + 1) << 32, filters.thread, filters.thread]
    if filters.site is not None:
        where += " AND (p.site = ? OR substr(p.site, -length(?) - 1) = '.' || ?)"
        values += [filters.site] * 3
    when = "CASE r.kind WHEN 'node' THEN n.ts WHEN 'page' THEN p.captured_at ELSE t.updated_at END"
    if filters.since is not None:
        where += f" AND {when} >= ?"
        values.append(filters.since)
    if filters.until is not None:
        where += f" AND {when} <= ?"
        values.append(filters.until)
    return where, values


def _text(tx: Tx, row: Row) -> str:
    kind, key = row[1], row[2]
    if kind == "node":
        return search_index.node_text(row[9])
    if kind == "title":
        return str(row[4])
    page = tx.one("SELECT k, title, url, text, selection FROM pages WHERE k = ?", (key,))
    assert page is not None
    return search_index.page_text(tx, *page)


def _ranked(tx: Tx, rows: list[Row], asked: Query) -> list[_Hit]:
    """The rows that fit, the best first, the newer first among equals."""
    found: list[_Hit] = []
    for row in rows:
        text, folded = shown(_text(tx, row))
        fits = score(folded, asked.terms)
        if fits is not None:
            found.append(_Hit(fits * (2.0 if row[1] == "title" else 1.0), row, text, folded))
    found.sort(key=lambda hit: -hit.score)
    return found


def _shown(hit: _Hit, asked: Query) -> dict[str, Any]:
    _rowid, kind, _ref, thread, title, preview, trashed, updated, node, _payload, ts, page, page_title, at = hit.row
    about: dict[str, Any] = {
        "title": page_title if kind == "page" else title or preview or "",
        "snippet": snippet(hit.text, hit.folded, asked.terms),
        "ts": {"node": ts, "page": at}.get(kind, updated),
        "rank": round(hit.score, 6),
    }
    if thread is not None and trashed is None:
        about["threadId"] = thread
    if node is not None:
        about["nodeId"] = node
    if page is not None:
        about["pageId"] = page
    return about
