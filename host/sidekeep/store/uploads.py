"""Uploads: announced, received in chunks in any order, checked as a whole, then kept; or given up.

Chunks are committed as they come, under a blob without a digest. The digest of the whole is worked out beside, in
memory, so that a commit need not read everything again; after a death of the process it is made up from the rows.
"""

from hashlib import sha256
from typing import Any, NamedTuple

from sidekeep.model import mimes
from sidekeep.model.errors import Conflict, DigestMismatch, InvalidCommand, NotFound, TooLarge
from sidekeep.model.limits import CHUNK_BYTES, UNFINISHED_UPLOAD_MS, UPLOAD_BYTES
from sidekeep.store import blobs
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)

#: Stored chunks that one op reads again at most, where the digest has to catch up.
CATCH_UP_CHUNKS = 8
_KEPT_DIGESTS = 64
_ABANDONED_STEP = 50


class Upload(NamedTuple):
    """An unfinished attachment; `have` when its bytes were here before it was announced."""

    k: int
    blob: int
    size: int
    sha256: str | None
    mime: str
    have: int
    stamp: int


class _Digest:
    """The digest of the first `done` chunks, as the blob was at `stamp` (it moves when a chunk is replaced)."""

    __slots__ = ("done", "stamp", "state")

    def __init__(self, stamp: int) -> None:
        self.state = sha256()
        self.done = 0
        self.stamp = stamp


# Of this process, by attachment id. A digest may be ahead of the rows after a transaction was rolled back: then its
# chunk comes again as a new one, and the digest is begun anew.
_digests: dict[str, _Digest] = {}


def begin(tx: Tx, thread: int | None, members: dict[str, Any], *, attachment_id: str | None = None) -> tuple[str, bool]:
    """Announce an upload; returns its id, and whether these bytes are stored already. Raises TooLarge."""
    size = members["size"]
    if size > UPLOAD_BYTES:
        raise TooLarge(f"An upload has at most {UPLOAD_BYTES} bytes; this one would have {size}.")
    announced = members.get("sha256")
    blob = blobs.known(tx, announced, size) if announced is not None else None
    have = blob is not None
    meta = members.get("meta")
    attachment_id = attachment_id or tx.new_id()
    tx.run(
        sql.begin,
        (
            attachment_id, thread, blob if blob is not None else blobs.new(tx, size), members["kind"],
            members["mime"], size, announced, members["trust"], members["provenance"], tx.now,
            members.get("sourceRef"), dumps(meta) if meta else None,
        ),
    )  # fmt: skip
    return attachment_id, have


def find(tx: Tx, attachment_id: str) -> Upload:
    """An upload that is under way. Raises NotFound."""
    row = tx.one(sql.find, (attachment_id,))
    if row is None:
        raise NotFound(f"No upload {attachment_id} is under way.")
    return Upload._make(row)


def receive(tx: Tx, attachment_id: str, index: int, data: bytes) -> int:
    """Keep a chunk; returns how many are here. Raises NotFound, TooLarge, InvalidCommand."""
    upload = find(tx, attachment_id)
    start = index * CHUNK_BYTES
    if start + len(data) > upload.size or (start >= upload.size and data):
        raise TooLarge(f"index: chunk {index} goes past the {upload.size} bytes that were announced.")
    if len(data) != min(CHUNK_BYTES, upload.size - start) or not data:
        raise InvalidCommand(f"data: a chunk has exactly {CHUNK_BYTES} bytes, and only the last one fewer.")
    if upload.have:
        return blobs.chunks_of(upload.size)
    _follow(tx, attachment_id, upload, index, data, blobs.put(tx, upload.blob, index, data))
    return blobs.count(tx, upload.blob)


def _follow(tx: Tx, attachment_id: str, upload: Upload, index: int, data: bytes, became: str) -> None:
    """Let the digest go on over this chunk and what lies stored behind it."""
    digest = _digests.get(attachment_id)
    behind = digest is not None and index < digest.done
    if digest is None or digest.stamp != upload.stamp or became == "other" or (behind and became == "new"):
        _digests.pop(attachment_id, None)
        if became == "other":
            return
        while len(_digests) >= _KEPT_DIGESTS:
            _digests.pop(next(iter(_digests)))
        digest = _digests[attachment_id] = _Digest(upload.stamp)
    if index == digest.done:
        digest.state.update(data)
        digest.done += 1
    elif index > digest.done:
        for piece in blobs.pieces(tx, upload.blob, digest.done, min(index, digest.done + CATCH_UP_CHUNKS)):
            digest.state.update(piece)
            digest.done += 1


def _digest_of(tx: Tx, attachment_id: str, upload: Upload, chunks: int) -> str:
    digest = _digests.pop(attachment_id, None)
    if digest is None or digest.stamp != upload.stamp:
        digest = _Digest(upload.stamp)
    for piece in blobs.pieces(tx, upload.blob, digest.done, chunks):
        digest.state.update(piece)
    return digest.state.hexdigest()


def keep(tx: Tx, attachment_id: str) -> tuple[str, int]:
    """Check the whole and keep it; returns its digest and size.

    Raises NotFound; Conflict for a gap (the upload stays); DigestMismatch, which removes the upload.
    """
    upload = find(tx, attachment_id)
    if upload.have:
        assert upload.sha256 is not None
        _store(tx, upload, upload.blob, upload.sha256)
        tx.run(blobs.sql.touch, (upload.blob, tx.now))
        return upload.sha256, upload.size
    chunks = blobs.chunks_of(upload.size)
    received = blobs.count(tx, upload.blob)
    if received != chunks:
        raise Conflict(
            f"{received} of {chunks} chunks are here; attachment.status names them. Send the others, then commit again."
        )
    found = _digest_of(tx, attachment_id, upload, chunks)
    if upload.sha256 is not None and upload.sha256 != found:
        mismatch = DigestMismatch(f"The bytes have the digest {found}, not {upload.sha256} as was announced.")
        mismatch.also = lambda after: give_up(after, attachment_id)
        raise mismatch
    there = tx.one(blobs.sql.known, (found,))
    if there is None:
        tx.run(blobs.sql.finish, (upload.blob, found, tx.now))
        _store(tx, upload, upload.blob, found)
    else:
        _store(tx, upload, there[0], found)
        tx.run(blobs.sql.touch, (there[0], tx.now))
        blobs.drop_unused(tx, (upload.blob,))
    return found, upload.size


def _store(tx: Tx, upload: Upload, blob: int, sha256: str) -> None:
    """Name the bytes, and their type as they show it (an image under a wrong one is refused by models)."""
    mime = mimes.corrected(upload.mime, blobs.read(tx, blob, 0, mimes.SNIFFED_BYTES))
    tx.run(sql.store, (upload.k, blob, sha256, mime))


def give_up(tx: Tx, attachment_id: str) -> None:
    """Remove an upload; its bytes are freed by `blobs.remove_dropped`. Raises NotFound."""
    upload = find(tx, attachment_id)
    _digests.pop(attachment_id, None)
    tx.run(sql.remove, (upload.k,))
    blobs.drop_unused(tx, (upload.blob,))


def is_abandoned(tx: Tx) -> bool:
    """Is there an upload that nobody finished within a day?"""
    return tx.one(sql.is_abandoned, (tx.now - UNFINISHED_UPLOAD_MS,)) is not None


def sweep_abandoned(tx: Tx) -> int:
    """Remove uploads that nobody finished within a day; returns how many."""
    found = tx.all(sql.abandoned, (tx.now - UNFINISHED_UPLOAD_MS, _ABANDONED_STEP))
    for key, _blob in found:
        tx.run(sql.remove, (key,))
    blobs.drop_unused(tx, [blob for _key, blob in found])
    return len(found)
