"""Threads: making one, finding a live one, and the list."""

from typing import Any

import apsw

from sidekeep.model.errors import Conflict, InvalidCommand, NotFound
from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import SAFE_INTEGER
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)


def create(tx: Tx, fields: dict[str, Any]) -> ThreadRow:
    """Insert a thread from column values; `id` may be given. Raises Conflict when it exists."""
    thread_id = fields.get("id") or tx.new_id()
    if tx.thread(thread_id) is not None:
        raise Conflict(f"Thread {thread_id} exists already.")
    title = fields.get("title") or ""
    key = tx.one(sql.next_key)[0]  # type: ignore[index]
    tx.run(
        sql.insert,
        (
            key, thread_id, title, "user" if title else "none", tx.now, tx.now, fields.get("folder_id"),
            dumps(fields.get("tags") or []), fields.get("preset"),
            fields.get("parent_thread"), fields.get("project_id"), fields.get("source") or "panel",
            fields.get("agent_id") or "main", fields.get("channel"), fields.get("account_id"),
            fields.get("peer_id"), fields.get("peer_display"),
        ),
    )  # fmt: skip
    row = tx.reload_thread(thread_id)
    tx.change("thread.created", thread_id, None, row.revision)
    return row


def live(tx: Tx, thread_id: str) -> ThreadRow:
    """A thread that is not in the trash. Raises NotFound."""
    row = tx.thread(thread_id)
    if row is None:
        raise NotFound(f"No thread {thread_id}.")
    if row.deleted_at is not None:
        raise NotFound("This thread is in the trash; restore it first.")
    return row


def ids_that_begin(tx: Tx, beginning: str, limit: int) -> list[str]:
    """Ids of threads outside the trash; `beginning` is lower-case hexadecimal with hyphens."""
    return [row[0] for row in tx.all(sql.begin_with, (beginning, beginning + "g", limit))]


def _cursor_text(row: ThreadRow) -> str:
    return f"{row.updated_at}:{row.id}".encode().hex()


def _cursor_of(text: str) -> tuple[int, str]:
    try:
        when, _, thread_id = bytes.fromhex(text).decode().partition(":")
        updated_at = int(when)
    except ValueError:
        updated_at, thread_id = -1, ""
    if not (0 <= updated_at <= SAFE_INTEGER and is_uuid(thread_id)):
        raise InvalidCommand("cursor: not one that this list gave.")
    return updated_at, thread_id


def _leaf_id(tx: Tx, leaf: int | None) -> str | None:
    try:
        row = tx.one("SELECT id FROM nodes WHERE k = ?", (leaf,))
    except apsw.CorruptError:
        return None
    return None if row is None else str(row[0])


def listing(
    tx: Tx,
    *,
    limit: int,
    cursor: str | None = None,
    archived: bool | str = False,
    trash: bool = False,
    filters: dict[str, Any] | None = None,
    with_total: bool = False,
) -> dict[str, Any]:
    """One page of the list, newest `updatedAt` first; the cursor stays right while rows move.

    `filters` maps a column (`pinned`, `folder_id`, `project_id`, `status`) or `tag` to its value.
    """
    where, values = [], []
    if trash:
        where.append("deleted_at IS NOT NULL")
    else:
        where.append("deleted_at IS NULL")
        if archived != "all":
            where.append(f"archived = {int(bool(archived))}")
    for column, value in (filters or {}).items():
        if column == "tag":
            where.append("EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = ?)")
        else:
            where.append(f"{column} = ?")
        values.append(value)
    total = None
    if with_total:
        total = tx.one(f"SELECT count(*) FROM threads WHERE {' AND '.join(where)}", values)[0]  # type: ignore[index]
    if cursor is not None:
        where.append("(updated_at, id) < (?, ?)")
        values += _cursor_of(cursor)
    order = f" WHERE {' AND '.join(where)} ORDER BY updated_at DESC, id DESC LIMIT ?"
    try:
        rows = tx.all(sql.columns + order, (*values, limit + 1))
    except apsw.CorruptError:
        # A conversation on a damaged page must not take the list with it.
        alone = sql.columns.replace("(SELECT id FROM nodes WHERE k = threads.leaf)", "NULL")
        rows = [(*row[:-2], _leaf_id(tx, row[7]), row[-1]) for row in tx.all(alone + order, (*values, limit + 1))]
    threads = [ThreadRow(row) for row in rows[:limit]]
    page: dict[str, Any] = {
        "threads": [row.meta() for row in threads],
        "cursor": _cursor_text(threads[-1]) if len(rows) > limit else None,
    }
    if total is not None:
        page["total"] = total
    return page
