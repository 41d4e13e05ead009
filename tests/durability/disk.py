"""A model of a disk that may lose power: what was synced stays, what was not may be there, be gone, or be torn.

Inodes are kept apart from the names in the directory. A name that was made or removed without a sync of the
directory may be there or not. Between two syncs every write may reach the disk or not, in any order, in pieces
of one sector. A sync that failed leaves its writes in limbo: they may be on the disk, but no later sync of the
file brings them there, since the system counts them as written.
"""

import random
from collections.abc import Iterable
from typing import NamedTuple

from durability.recorder import CREATE, DELETE, DIRECTORY_SYNC, FAILED_SYNC, MARK, SYNC, TRUNCATE, WRITE, Note

SECTOR = 512
Image = dict[str, bytes]


class Change(NamedTuple):
    """One change of one file since its last sync."""

    order: int
    offset: int
    data: bytes | None  # None: the file was cut at `offset`
    limbo: bool


class _Inode:
    def __init__(self) -> None:
        self.durable = bytearray()
        self.pending: list[Change] = []

    def settle(self) -> None:
        """A sync that succeeded: everything is on the disk but what is in limbo."""
        kept: list[Change] = []
        for change in self.pending:
            if not change.limbo:
                _put(self.durable, change)
                kept = [rest for older in kept for rest in _left_of(older, change)]
            else:
                kept.append(change)
        self.pending = kept


class Disk:
    """Fed with notes; asked what a power cut at this moment could leave."""

    def __init__(self, start: Image | None = None) -> None:
        self._inodes: dict[int, _Inode] = {}
        self._names: dict[str, int] = {}  # as the directory is on the disk
        self._renames: list[tuple[str, int | None]] = []  # since the directory was synced
        self._order = 0
        self._start = dict(start or {})

    def feed(self, note: Note) -> None:
        """Take one note."""
        kind = note.kind
        if kind in (WRITE, TRUNCATE):
            self._order += 1
            self._inodes[note.inode].pending.append(Change(self._order, note.offset, note.data, False))
        elif kind == SYNC:
            self._inodes[note.inode].settle()
        elif kind == FAILED_SYNC:
            inode = self._inodes[note.inode]
            inode.pending = [change._replace(limbo=True) for change in inode.pending]
        elif kind == CREATE:
            inode = self._inodes[note.inode] = _Inode()
            if note.name in self._start:
                inode.durable = bytearray(self._start.pop(note.name))
                self._names[note.name] = note.inode
            else:
                self._renames.append((note.name, note.inode))
        elif kind == DELETE:
            self._renames.append((note.name, None))
        elif kind == DIRECTORY_SYNC:
            for name, inode_number in self._renames:
                _rename(self._names, name, inode_number)
            self._renames = []
        else:
            assert kind == MARK, kind

    def feed_all(self, notes: Iterable[Note]) -> "Disk":
        for note in notes:
            self.feed(note)
        return self

    @property
    def pending(self) -> int:
        """How many changes are not certain to be on the disk."""
        return len(self._renames) + sum(len(inode.pending) for inode in self._inodes.values())

    def cache(self) -> Image:
        """What a process sees that comes after the death of another: everything."""
        return self._image(lambda _change: True, len(self._renames))

    def durable(self) -> Image:
        """The worst power cut: nothing that was not synced."""
        return self._image(lambda _change: False, 0)

    def prefix(self, keep: int) -> Image:
        """The changes reached the disk in their order, up to the one numbered `keep` (counted from 0)."""
        orders = sorted(change.order for inode in self._inodes.values() for change in inode.pending)
        last = orders[keep - 1] if keep else -1
        return self._image(lambda change: change.order <= last, len(self._renames))

    def prefixes(self) -> int:
        """How many changes of files are pending; `prefix` takes 0 to this."""
        return sum(len(inode.pending) for inode in self._inodes.values())

    def subset(self, dice: random.Random) -> Image:
        """Any of the pending changes, whole ones."""
        odds = dice.random()
        return self._image(lambda _change: dice.random() < odds, dice.randint(0, len(self._renames)))

    def torn(self, dice: random.Random) -> Image:
        """Any of the pending changes, in sectors."""
        odds = dice.random()
        names = dice.randint(0, len(self._renames))
        return self._image(lambda _change: True, names, lambda: dice.random() < odds)

    def _image(self, keep, names: int, sector=None) -> Image:  # type: ignore[no-untyped-def]
        directory = dict(self._names)
        for name, number in self._renames[:names]:
            _rename(directory, name, number)
        image = dict(self._start)
        for name, number in directory.items():
            inode = self._inodes[number]
            content = bytearray(inode.durable)
            for change in inode.pending:
                if keep(change):
                    _put(content, change, sector)
            image[name] = bytes(content)
        return image


def _rename(names: dict[str, int], name: str, number: int | None) -> None:
    if number is None:
        names.pop(name, None)
    else:
        names[name] = number


def _put(content: bytearray, change: Change, sector=None) -> None:  # type: ignore[no-untyped-def]
    if change.data is None:
        if sector is None or sector():
            del content[change.offset :]
        return
    at, data = change.offset, change.data
    pieces: list[tuple[int, bytes]] = [(at, data)]
    if sector is not None:
        pieces = []
        first = 0
        while first < len(data):
            end = min(len(data), first + SECTOR - (at + first) % SECTOR)
            if sector():
                pieces.append((at + first, data[first:end]))
            first = end
    for where, piece in pieces:
        if len(content) < where:
            content.extend(bytes(where - len(content)))
        content[where : where + len(piece)] = piece


def _left_of(older: Change, newer: Change) -> list[Change]:
    """What a newer change leaves of an older one: a page is written as it stands, with both of them in it."""
    if older.data is None:
        # The file's length as it was then: a later one takes its place.
        later = newer.data is None or newer.offset + len(newer.data) > older.offset
        return [] if later else [older]
    first, last = older.offset, older.offset + len(older.data)
    begin = newer.offset
    end = last if newer.data is None else begin + len(newer.data)
    pieces = ((first, min(last, begin)), (max(first, end), last))
    return [
        older._replace(offset=start, data=older.data[start - first : stop - first])
        for start, stop in pieces
        if start < stop
    ]
