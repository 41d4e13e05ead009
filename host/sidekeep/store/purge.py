"""The removal of a thread and all that is its own, in the caller's transaction; bytes are freed in steps after it."""

from sidekeep.store import blobs
from sidekeep.store.sql import statements
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx

sql = statements(__file__)


def thread(tx: Tx, row: ThreadRow) -> None:
    """Remove a thread's rows; a kept page's parts and blobs that others name stay."""
    tx.run(sql.keep_page_parts, (row.k,))
    tx.run(sql.drop_search, (row.k,))
    tx.run(sql.drop_search_rows, (row.k,))
    held = [blob for (blob,) in tx.all(sql.blobs_of_thread, (row.k,))]
    tx.run(sql.drop_attachments, (row.k,))
    blobs.drop_unused(tx, held)
    tx.run(sql.drop_thread, (row.k,))
    tx.forget_thread(row.id)
