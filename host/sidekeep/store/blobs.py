"""Bytes in the store: one row a SHA-256, in rows of 256 KiB, written, read and removed in small pieces."""

import json
from collections.abc import Iterable, Iterator

from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)

#: What one step of `remove_dropped` frees at most.
STEP_CHUNKS = 16
STEP_BLOBS = 64


def new(tx: Tx, size: int) -> int:
    """The key of a blob whose bytes have yet to come; it has no digest until `finish`."""
    tx.run(sql.new, (size, tx.now, tx.now))
    return tx.insert_key()


def known(tx: Tx, sha256: str, size: int) -> int | None:
    """The finished blob of this digest and size, if its bytes are here."""
    row = tx.one(sql.known, (sha256,))
    return None if row is None or row[1] != size else int(row[0])


def chunks_of(size: int) -> int:
    """How many rows hold so many bytes."""
    return -(-size // CHUNK_BYTES)


def put(tx: Tx, blob: int, index: int, data: bytes) -> str:
    """Write a chunk: `new`, `same` (these bytes were there), or `other` (they took the place of other ones)."""
    tx.run(sql.put, (blob, index, data))
    if tx.changed_rows():
        return "new"
    if chunk(tx, blob, index) == data:
        return "same"
    tx.run(sql.replace, (blob, index, data))
    tx.run(sql.touch, (blob, tx.now))
    return "other"


def chunk(tx: Tx, blob: int, index: int) -> bytes | None:
    row = tx.one(sql.chunk, (blob, index))
    return None if row is None else bytes(row[0])


def count(tx: Tx, blob: int) -> int:
    """How many chunks are here."""
    return int(tx.one(sql.count, (blob,))[0])  # type: ignore[index]


def ranges(tx: Tx, blob: int) -> list[list[int]]:
    """Which chunks are here: `[from, to]` of indices, both ends included."""
    found: list[list[int]] = []
    for (index,) in tx.all(sql.indices, (blob,)):
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return found


def pieces(tx: Tx, blob: int, first: int, end: int) -> Iterator[bytes]:
    """Chunks `first` … `end - 1`, one in memory at a time; ends early at one that is missing."""
    for index in range(first, end):
        data = chunk(tx, blob, index)
        if data is None:
            return
        yield data


def read(tx: Tx, blob: int, offset: int, length: int) -> bytes:
    """A range of a blob's bytes, shorter at its end."""
    first = offset // CHUNK_BYTES
    end = chunks_of(offset + length)
    data = b"".join(pieces(tx, blob, first, end))
    start = offset - first * CHUNK_BYTES
    return data[start : start + length]


def drop_unused(tx: Tx, keys: Iterable[int]) -> None:
    """Those of the blobs that nothing names any more hold nothing from now on; `remove_dropped` frees their rows."""
    wanted = list(keys)
    if wanted:
        tx.run(sql.drop_unused, (json.dumps(wanted),))


def is_dropped(tx: Tx) -> bool:
    """Is there anything to free?"""
    return bool(tx.all(sql.dropped, (1,)))


def remove_dropped(tx: Tx) -> int:
    """One step of freeing what was dropped; returns how much it did, 0 when nothing is left."""
    budget = STEP_CHUNKS
    done = 0
    for key, size in tx.all(sql.dropped, (STEP_BLOBS,)):
        if size:
            tx.run(sql.remove_chunks, (key, budget))
            removed = tx.changed_rows()
            budget -= removed
            done += removed
        if budget <= 0:
            break
        tx.run(sql.remove, (key,))
        done += 1
    return done
