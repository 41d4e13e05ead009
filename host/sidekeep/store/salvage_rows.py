"""Reads what can be read of a damaged table: from both ends, then by single row keys past the pages that are lost."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from sidekeep.store.verify_tree import MOST_NODES

#: A table whose keys count up is tried key by key up to here; the large ones have keys that are told elsewhere.
DENSE = 5_000_000
#: Where the end of a table is not known either, so many keys are tried.
BLIND = 20_000

Row = tuple[Any, ...]


class Gap(NamedTuple):
    """Row keys between which something could not be read: all that is known of a page that is lost."""

    table: str
    after: object
    before: object


class Table(NamedTuple):
    """A table as it is read: `key` is its integer row key, empty for a table without one."""

    name: str
    columns: list[str]
    texts: frozenset[str]
    key: str
    primary: list[str]


def table_of(db: apsw.Connection, name: str, columns: Iterable[str]) -> Table:
    """The table's shape in the damaged file, with those of its columns that are wanted."""
    info: list[Any] = db.execute("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
    wanted = set(columns)
    primary = [column for column, _type, place, _hidden in sorted(info, key=lambda row: row[2]) if place]
    single = len(primary) == 1 and any(column == primary[0] and kind == "INTEGER" for column, kind, _p, _h in info)
    return Table(
        name,
        [column for column, _type, _place, hidden in info if not hidden and column in wanted],
        frozenset(column for column, kind, _place, _hidden in info if kind == "TEXT"),
        primary[0] if single else "",
        primary,
    )


class Walk:
    """One pass over a table; afterwards `gaps` says what is missing."""

    def __init__(self, db: apsw.Connection, table: Table) -> None:
        self._db = db
        self._table = table
        self.gaps: list[Gap] = []
        # Texts as bytes: one that is no well-formed text is kept for the repair.
        values = ", ".join(f'CAST("{name}" AS BLOB)' if name in table.texts else f'"{name}"' for name in table.columns)
        self._keys = ", ".join(f'"{name}"' for name in table.primary)
        self._backwards = ", ".join(f'"{name}" DESC' for name in table.primary)
        self._select = f'SELECT {values} FROM "{table.name}"'

    def rows(self, told: Iterable[int] = ()) -> Iterator[Row]:
        """Every row that can be read, once; `told` are keys that others know of."""
        table = self._table
        if not table.key:
            yield from self._two_ways()
            return
        at = table.columns.index(table.key)
        last: int | None = None
        try:
            for row in self._db.execute(f'{self._select} ORDER BY "{table.key}"'):
                last = row[at]
                yield row
            return
        except apsw.CorruptError:
            pass
        first_behind: int | None = None
        try:
            for row in self._db.execute(f'{self._select} ORDER BY "{table.key}" DESC'):
                if last is not None and row[at] <= last:
                    return  # they met: only the way between two pages was lost
                first_behind = row[at]
                yield row
        except apsw.CorruptError:
            pass
        yield from self._between(at, last, first_behind, told)

    def _between(self, at: int, last: int | None, behind: int | None, told: Iterable[int]) -> Iterator[Row]:
        """Point reads of every key that may lie where neither way came through."""
        known = len(self.gaps)
        before, lost = last, False
        for key in sorted(self._candidates(0 if last is None else last + 1, behind, told)):
            try:
                row = self._db.execute(f'{self._select} WHERE "{self._table.key}" = ?', (key,)).fetchone()
            except apsw.CorruptError:
                lost = True
                continue
            if row is None:
                continue
            if lost:
                self.gaps.append(Gap(self._table.name, before, key))
            before, lost = row[at], False
            yield row
        if lost or len(self.gaps) == known:
            self.gaps.append(Gap(self._table.name, before, behind))

    def _candidates(self, start: int, end: int | None, told: Iterable[int]) -> set[int]:
        found = {key for key in told if key >= start and (end is None or key < end)}
        # Keys that others tell of are made of two numbers, with wide ranges of none between.
        if end is not None and end - start <= (BLIND if found else DENSE):
            found.update(range(start, end))
        found.update(key for key in self._indexed_keys() if key >= start and (end is None or key < end))
        if end is None and not found:
            found.update(range(start, start + BLIND))
        return found

    def _indexed_keys(self) -> Iterator[int]:
        """Row keys that the table's indexes hold, as far as they can be read from either end."""
        names = self._db.execute(
            "SELECT name FROM pragma_index_list(?) WHERE partial = 0", (self._table.name,)
        ).fetchall()
        for (name,) in names:
            columns = self._db.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,)).fetchall()
            for way in ("", " DESC"):
                order = ", ".join(f'"{column}"{way}' for (column,) in columns)
                try:
                    for (key,) in self._db.execute(
                        f'SELECT "{self._table.key}" FROM "{self._table.name}" INDEXED BY "{name}" ORDER BY {order}'
                    ):
                        yield key
                    break
                except apsw.Error:
                    continue

    def _two_ways(self) -> Iterator[Row]:
        """A table without row keys: from the beginning, then from the end, up to what is lost."""
        places = [self._table.columns.index(name) for name in self._table.primary]
        seen: set[Row] = set()
        try:
            for row in self._db.execute(f"{self._select} ORDER BY {self._keys}"):
                seen.add(tuple(row[place] for place in places))
                yield row
            return
        except apsw.CorruptError:
            pass
        behind: object = None
        try:
            for row in self._db.execute(f"{self._select} ORDER BY {self._backwards}"):
                key = tuple(row[place] for place in places)
                if key in seen:
                    return
                behind = key[0]
                yield row
        except apsw.CorruptError:
            pass
        self.gaps.append(Gap(self._table.name, max((key[0] for key in seen), default=None), behind))


def node_keys(threads: Iterable[tuple[int, int]]) -> Iterator[int]:
    """The keys that nodes have by what their threads say: (thread key, next seq)."""
    for key, next_seq in threads:
        if type(key) is int and type(next_seq) is int and 0 < next_seq < MOST_NODES:
            yield from range((key << 32) + 1, (key << 32) + next_seq)


def chunk_keys(blobs: Iterable[tuple[int, int]], chunk_bytes: int) -> Iterator[int]:
    """The keys that chunks have by what their blobs say: (blob key, size)."""
    for key, size in blobs:
        if type(key) is int and type(size) is int and 0 <= size < 1 << 40:
            yield from range(key << 20, (key << 20) + -(-size // chunk_bytes))
