"""The text that was read out of a file: an attachment beside it, of kind `page_text`, found by the file's digest.

Each thread that has the file has a row of its own on the same bytes, so that neither a purge of another thread nor a
second upload takes the text away.
"""

from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.store import attachments, uploads
from sidekeep.store.attachments import Attachment
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)


def blob_of(tx: Tx, attachment_id: str) -> int | None:
    """The bytes (UTF-8) of the text of a file, if it was read."""
    row = tx.one(sql.of_attachment, (attachment_id,))
    return None if row is None else int(row[1])


def there(tx: Tx, attachment_id: str) -> tuple[str, int] | None:
    """Id and size of the text that belongs to a file in its own thread; made from another thread's where there is one.

    Raises NotFound for a file that is gone.
    """
    source = attachments.stored(tx, attachment_id)
    thread = _thread(tx, source)
    row = tx.one(sql.in_thread, (source.sha256, thread))
    if row is not None:
        return str(row[1]), int(row[2])
    other = tx.one(sql.of_attachment, (attachment_id,))
    if other is None:
        return None
    text_id = tx.new_id()
    tx.run(sql.insert, (other[0], text_id, thread, tx.now))
    return text_id, int(other[2])


def keep(tx: Tx, attachment_id: str, text: bytes) -> str:
    """Keep the text of a file; its id. It has the file's trust and provenance. Raises NotFound."""
    source = attachments.stored(tx, attachment_id)
    members: dict[str, object] = {
        "kind": "page_text",
        "mime": "text/plain",
        "size": len(text),
        "trust": source.trust,
        "provenance": source.provenance,
        "sourceRef": f"sha256:{source.sha256}",
    }
    thread = _thread(tx, source)
    text_id, _have = uploads.begin(tx, thread, members)
    for index, start in enumerate(range(0, len(text), CHUNK_BYTES)):
        uploads.receive(tx, text_id, index, text[start : start + CHUNK_BYTES])
    uploads.keep(tx, text_id)
    tx.run("UPDATE attachments SET meta = ? WHERE id = ?", (source.meta, text_id))
    return text_id


def copy(tx: Tx, sha256: str, source_thread: int, target_thread: int) -> None:
    """A forked thread that has the file has its text too."""
    row = tx.one(sql.in_thread, (sha256, source_thread))
    if row is not None and tx.one(sql.in_thread, (sha256, target_thread)) is None:
        tx.run(sql.insert, (row[0], tx.new_id(), target_thread, tx.now))


def forget(tx: Tx, source: Attachment) -> None:
    """The file was deleted: its text goes too, unless the thread still has the file."""
    thread = _thread(tx, source)
    if source.sha256 is None or tx.one(sql.is_named, (source.sha256, thread)) is not None:
        return
    row = tx.one(sql.in_thread, (source.sha256, thread))
    if row is not None:
        attachments.remove(tx, attachments.find(tx, row[1]))


def _thread(tx: Tx, source: Attachment) -> int | None:
    row = None if source.thread is None else tx.thread(source.thread)
    return None if row is None else row.k
