"""Attachments as a model call needs them: what each is, and its bytes."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)


class Attached(NamedTuple):
    """An attachment's row without its bytes; `blob` is None once they are gone."""

    id: str
    state: str
    kind: str
    mime: str
    size: int
    blob: int | None
    trust: str
    provenance: str
    meta: dict[str, Any]

    @property
    def stored(self) -> bool:
        return self.state == "stored" and self.blob is not None


def look_up(tx: Tx, ids: Iterable[str]) -> dict[str, Attached]:
    """Those of the ids that are known, by id."""
    rows = tx.all(sql.some, (json.dumps(list(ids)),))
    return {row[0]: Attached._make((*row[:-1], json.loads(row[-1]) if row[-1] else {})) for row in rows}


def content(tx: Tx, blob: int) -> bytes:
    """All bytes of a blob."""
    return b"".join(row[0] for row in tx.all(sql.chunks, (blob, blob)))
