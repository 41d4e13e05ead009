"""Checks that every text is well-formed UTF-8 and every JSON column is JSON, in all tables but nodes and bytes."""

from typing import Any

import apsw
import msgspec

from sidekeep.store.verify_findings import Look, Report
from sidekeep.store.verify_pages import tables

#: Checked elsewhere: nodes by the tree, bytes by their digest, receipts by what they answer.
ELSEWHERE = frozenset(("nodes", "blob_chunks", "command_receipts", "meta"))
#: (table, column) → what takes the place of JSON that cannot be read; DROP removes the row.
DROP = object()
JSON_COLUMNS: dict[tuple[str, str], Any] = {
    ("threads", "tags"): "[]",
    ("threads", "scope_origins"): "[]",
    ("changes", "detail"): None,
    ("runs", "error"): None,
    ("runs", "usage"): None,
    ("runs", "overrides"): None,
    ("runs", "browser_context"): None,
    ("runs", "input"): '{"content":[]}',
    ("runs", "partial"): None,
    ("steers", "input"): DROP,
    ("approvals", "decision"): None,
    ("approvals", "request"): DROP,
    ("interactions", "response"): None,
    ("interactions", "request"): DROP,
    ("browser_requests", "params"): DROP,
    ("browser_requests", "response"): None,
    ("attachments", "refs"): None,
    ("attachments", "meta"): None,
    ("pages", "cut"): None,
    ("plugins", "manifest"): DROP,
    ("folders", "body"): DROP,
    ("presets", "body"): DROP,
    ("connections", "body"): DROP,
    ("settings", "value"): DROP,
    ("jobs", "params"): DROP,
    ("jobs", "position"): None,
    ("jobs", "result"): None,
}  # fmt: skip
_EACH = 1000
_decode = msgspec.json.decode


def check(db: Look, report: Report) -> None:
    for table in tables(db):
        if table not in ELSEWHERE:
            report.progress("rows", 0, 0)
            try:
                _check_table(db, report, table)
            except apsw.CorruptError as error:
                report.damaged(f"The table {table}", error)


def row_key(db: Look, table: str) -> list[str]:
    """The columns of a table's primary key."""
    found = list(db.rows("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,)))
    return [name for (name,) in found]


def _check_table(db: Look, report: Report, table: str) -> None:
    keys = row_key(db, table)
    kinds = list(db.rows("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'", (table,)))
    texts = [name for (name,) in kinds if name not in keys]
    if not texts or not keys:
        return
    columns = ", ".join([f'CAST("{name}" AS BLOB)' for name in texts])
    # The key is read as bytes too: a text key may be what is damaged.
    of = ", ".join(f'"{name}"' if name in ("k", "seq") else f'CAST("{name}" AS BLOB)' for name in keys)
    for number, row in enumerate(db.rows(f'SELECT {of}, {columns} FROM "{table}"')):
        if number % _EACH == 0:
            report.progress("rows", 0, 0)
        report.checked["rows"] += 1
        for name, value in zip(texts, row[len(keys) :], strict=True):
            fault = None if value is None else _fault(table, name, value)
            if fault is not None:
                report.fault(
                    "text_damaged",
                    f"{table}.{name} of the row {_named(row[: len(keys)])} {fault}.",
                    "keep what can be read of it" if fault == _NOT_UTF8 else "put back what stands there at first",
                    more=(table, name, tuple(row[: len(keys)])),
                )


_NOT_UTF8 = "is no well-formed text"
_NOT_JSON = "is no JSON"


def _fault(table: str, name: str, value: bytes) -> str | None:
    try:
        value.decode()
    except UnicodeDecodeError:
        return _NOT_UTF8 if (table, name) not in JSON_COLUMNS else _NOT_JSON
    if (table, name) in JSON_COLUMNS:
        try:
            _decode(value)
        except (msgspec.DecodeError, RecursionError):
            return _NOT_JSON
    return None


def _named(key: tuple[Any, ...]) -> str:
    return ", ".join(part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part) for part in key)
