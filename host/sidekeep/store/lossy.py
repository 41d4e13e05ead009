"""Reads rows whose text is no UTF-8 any more: one damaged cell must not hide the rows beside it."""

from collections.abc import Sequence
from typing import Any

import apsw


def rows(db: apsw.Connection, statement: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
    """What a SELECT gives, with U+FFFD where its text cannot be decoded. Slow; for when the plain way failed."""
    cursor = db.execute(statement, bindings)
    count = len(cursor.get_description())
    cursor.close()
    names = [f"c{number}" for number in range(count)]
    wanted = ", ".join(
        f"typeof({name}), CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names
    )
    found = db.execute(f"WITH damaged ({', '.join(names)}) AS ({statement}) SELECT {wanted} FROM damaged", bindings)
    return [
        tuple(
            value.decode("utf-8", "replace") if kind == "text" else value
            for kind, value in zip(row[::2], row[1::2], strict=True)
        )
        for row in found
    ]
