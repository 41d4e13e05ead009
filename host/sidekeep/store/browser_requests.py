"""What only the browser can do for a tool: a row that the host of the run's client claims, asks, and answers.

A claim stands while the host that made it lives; a request that nobody answers ends at its deadline.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from sidekeep.model.limits import BROWSER_ANSWER_MS, BROWSER_REQUEST_MS
from sidekeep.store.runs import RunRow
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)

NOT_OPEN = {
    "ok": False,
    "error": {"code": "browser_not_open", "message": "The browser is not open, or its panel does not answer."},
}


class BrowserRequest(NamedTuple):
    """One row; `params` and `response` are JSON text."""

    k: int
    id: str
    run: int
    client_id: str
    status: str
    claimed_by: str | None
    created_at: int
    deadline_at: int
    tool: str
    params: str
    response: str | None


def ask(tx: Tx, thread: ThreadRow, run: RunRow, tool: str, params: dict[str, Any]) -> str:
    """Put a request before the browser that the run's client is in; returns its id."""
    request_id = tx.new_id()
    tx.run(sql.insert, (request_id, run.k, run.client_id, tx.now, tx.now + BROWSER_REQUEST_MS, tool, dumps(params)))
    tx.change("browser.request", thread.id, request_id)
    return request_id


def find(tx: Tx, request_id: str) -> BrowserRequest | None:
    row = tx.one(f"{sql.columns} WHERE id = ?", (request_id,))
    return None if row is None else BrowserRequest._make(row)


def waiting(tx: Tx, client_ids: list[str]) -> list[BrowserRequest]:
    """Requests of these clients that are not answered and not too late, oldest first."""
    rows = tx.all(f"{sql.columns} WHERE status IN ('open', 'claimed') AND deadline_at > ? ORDER BY k", (tx.now,))
    return [request for request in map(BrowserRequest._make, rows) if request.client_id in client_ids]


def claim(tx: Tx, request_id: str, instance_id: str, lives: Callable[[str], bool]) -> dict[str, Any] | None:
    """Take a request for a host; the event that asks the browser, or None when another one that lives has it."""
    request = find(tx, request_id)
    if request is None or request.status not in ("open", "claimed") or request.deadline_at <= tx.now:
        return None
    if request.status == "claimed" and (request.claimed_by == instance_id or lives(request.claimed_by or "")):
        return None
    where = tx.one(sql.where, (request.k,))
    if where is None:
        return None
    tx.run(sql.claim, (instance_id, tx.now + BROWSER_ANSWER_MS, request.k, request.status, request.claimed_by))
    return {
        "type": "browser.request",
        "requestId": request.id,
        "threadId": where[0],
        "turnId": where[1],
        "clientId": request.client_id,
        "tool": request.tool,
        "params": msgspec.Raw(request.params.encode()),
    }


def answer(tx: Tx, request: BrowserRequest, response: dict[str, Any]) -> bool:
    """Keep what the browser did; False when it is too late."""
    tx.run(sql.answer, (dumps(response), request.k, tx.now))
    if tx.changed_rows() != 1:
        return False
    tx.change("run.browser", None, request.id)
    return True


def end(tx: Tx, request_id: str) -> None:
    """Nobody is asked any more, and what was answered is taken: a page's text is kept once, in the conversation."""
    tx.run(sql.end, (request_id,))
    tx.run(sql.taken, (request_id,))


def end_of_run(tx: Tx, run: RunRow) -> None:
    tx.run(sql.end_of_run, (run.k,))
