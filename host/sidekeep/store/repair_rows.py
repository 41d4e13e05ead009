"""Mends what is no node: threads, bytes, receipts, changes, revisions, counters, texts, references.

Every function is one transaction's work; what it cannot do it leaves, and the next check names it again.
"""

import json
from typing import Any

from sidekeep.model.digests import digest_of, sha256_hex
from sidekeep.model.ids import is_uuid
from sidekeep.store import attachments, blobs, runs, search_index, settings, tree, verify_search
from sidekeep.store.tx import Tx, dumps
from sidekeep.store.verify_findings import Finding
from sidekeep.store.verify_texts import DROP, JSON_COLUMNS

CHUNKS_AT_ONCE = 64
RECOVERED_TITLE = "Recovered conversation"


def thread_lost(tx: Tx, finding: Finding) -> None:
    """A thread's row for nodes that have none; its id is known where `changes` still names one of them."""
    key = finding.key or 0
    first, last, count = tx.one(
        "SELECT min(ts), max(ts), max(k) & 4294967295 FROM nodes WHERE k > ? AND k < ?",
        (tree.first_key(key), tree.end_key(key)),
    ) or (tx.now, tx.now, 0)
    told = tx.one(
        "SELECT c.thread FROM changes c JOIN nodes n ON n.id = c.id "
        "WHERE c.kind = 'thread.node' AND n.k > ? AND n.k < ? "
        "AND NOT EXISTS (SELECT 1 FROM threads t WHERE t.id = c.thread) LIMIT 1",
        (tree.first_key(key), tree.end_key(key)),
    )
    thread_id = told[0] if told is not None and is_uuid(told[0]) else tx.new_id()
    (revision,) = tx.one(
        "SELECT coalesce(max(revision), 0) + 1 FROM changes WHERE thread = ? AND kind <> 'thread.node'", (thread_id,)
    ) or (1,)
    named = tx.one(
        "SELECT json_extract(detail, '$.patch.title') FROM changes WHERE thread = ? AND kind = 'thread.updated' "
        "AND json_valid(detail) AND json_extract(detail, '$.patch.title') <> '' ORDER BY seq DESC LIMIT 1",
        (thread_id,),
    )
    title = str(named[0]) if named is not None else RECOVERED_TITLE
    tx.run(
        "INSERT INTO threads (k, id, title, created_at, updated_at, next_seq, revision) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (key, thread_id, title, first, last, count + 1, revision),
    )
    tx.change("thread.created", thread_id, None, revision)


def seq_behind(tx: Tx, finding: Finding) -> None:
    tx.run("UPDATE threads SET next_seq = max(next_seq, ?) WHERE k = ?", (finding.more, finding.key))


def thread_id(tx: Tx, finding: Finding) -> None:
    new = tx.new_id()
    tx.run("UPDATE threads SET id = ? WHERE k = ?", (new, finding.key))
    (revision,) = tx.one("SELECT revision FROM threads WHERE k = ?", (finding.key,)) or (1,)
    tx.change("thread.created", new, None, revision)


def branch_choice(tx: Tx, finding: Finding) -> None:
    tx.run("DELETE FROM branch_choices WHERE parent = ?", (finding.key,))


def blob_damaged(tx: Tx, finding: Finding) -> None:
    """Its attachments keep their names and say that the bytes are gone; what is left of the bytes is freed."""
    _evict(tx, "a.blob = ?", (finding.key,))
    tx.run("UPDATE blobs SET dropped = 1, sha256 = NULL WHERE k = ?", (finding.key,))


def attachment_damaged(tx: Tx, finding: Finding) -> None:
    """It names its own bytes again where they are here under their digest; else they are gone."""
    row = tx.one("SELECT sha256, size FROM attachments WHERE k = ?", (finding.key,))
    blob = blobs.known(tx, row[0], row[1]) if row is not None and row[0] is not None else None
    if blob is not None:
        tx.run("UPDATE attachments SET blob = ? WHERE k = ?", (blob, finding.key))
    else:
        _evict(tx, "a.k = ?", (finding.key,))


def _evict(tx: Tx, where: str, bindings: tuple[Any, ...]) -> None:
    by_thread: dict[str | None, list[str]] = {}
    nodes: list[str] = []
    for attachment_id, thread, refs in tx.all(
        f"SELECT a.id, t.id, a.refs FROM attachments a LEFT JOIN threads t ON t.k = a.thread WHERE {where}", bindings
    ):
        by_thread.setdefault(thread, []).append(attachment_id)
        if refs:
            nodes += json.loads(refs).get("nodeIds") or ()
    attachments.mark_nodes(tx, nodes)
    tx.run(f"UPDATE attachments AS a SET state = 'evicted', blob = NULL WHERE {where}", bindings)
    for thread, ids in by_thread.items():
        tx.change("attachment.evicted", thread, detail={"attachmentIds": ids})


def blob_orphan(tx: Tx, finding: Finding) -> None:
    blobs.drop_unused(tx, [finding.key or 0])


def chunk_orphan(tx: Tx, finding: Finding) -> None:
    """Frees them in pieces: the finding comes again until none is left."""
    key = finding.key or 0
    tx.run(blobs.sql.remove_chunks, (key, CHUNKS_AT_ONCE))
    if tx.changed_rows() == CHUNKS_AT_ONCE:
        raise Again


class Again(Exception):
    """A piece is done (it is committed), and the same finding has more."""


def page_part(tx: Tx, finding: Finding) -> None:
    tx.run("DELETE FROM page_parts WHERE page = ? AND idx = ?", (finding.key, finding.more))


def page_digest(tx: Tx, finding: Finding) -> None:
    """What is left is a page that was cut: a digest covers what was kept and why it is not the whole."""
    row = tx.one("SELECT url, title, captured_at, CAST(text AS BLOB) FROM pages WHERE k = ?", (finding.key,))
    if row is None:
        return
    url, title, captured_at, raw = row
    parts = tx.all(
        "SELECT a.sha256, a.size FROM page_parts p JOIN attachments a ON a.id = p.attachment WHERE p.page = ? "
        "ORDER BY p.idx",
        (finding.key,),
    )
    text = None if raw is None else bytes(raw).decode("utf-8", "replace")
    kept = len((text or "").encode()) + sum(size for _sha, size in parts)
    cut = {"reason": "damaged", "keptBytes": kept}
    subject = {
        "capturedAt": captured_at,
        "cut": cut,
        "parts": [sha for sha, _size in parts],
        "title": title,
        "url": url,
    }
    if text is not None:
        subject["text"] = sha256_hex(text.encode())
    tx.run(
        "UPDATE pages SET cut = ?, text = ?, digest = ? WHERE k = ?",
        (dumps(cut), text, digest_of(subject), finding.key),
    )
    tx.change("store.changed", id=finding.id, revision=1, detail={"kind": "pages", "id": finding.id})


def receipt_damaged(tx: Tx, finding: Finding) -> None:
    """The command stays answered: it was decided once and must not be done again."""
    client, submission = finding.more
    try:
        named = submission.decode()
    except UnicodeDecodeError:
        named = None
    at = "CAST(client_id AS BLOB) = ? AND CAST(submission_id AS BLOB) = ?"
    if named is None:
        tx.run(f"DELETE FROM command_receipts WHERE {at}", (client, submission))
        return
    answer = {
        "type": "command.rejected",
        "submissionId": named,
        "code": "storage_corrupt",
        "message": "This command was decided before, but its answer was damaged on the disk; look at what is there.",
        "retryable": False,
    }
    tx.run(
        "UPDATE command_receipts SET status = 'rejected', response = ?, "
        "request_fingerprint = CASE WHEN length(CAST(request_fingerprint AS BLOB)) = 64 "
        "AND CAST(request_fingerprint AS BLOB) NOT GLOB '*[^0-9a-f]*' THEN request_fingerprint ELSE ? END, "
        f"command_type = CASE command_type WHEN '' THEN '?' ELSE command_type END WHERE {at}",
        (dumps(answer), "0" * 64, client, submission),
    )


def revision(tx: Tx, finding: Finding) -> None:
    """The higher of what is and what was told, so that nobody who saw the one takes the other for newer."""
    if finding.thread is not None:
        tx.run("UPDATE threads SET revision = max(revision, ?) + 1 WHERE k = ?", (finding.more, finding.key))
        (now,) = tx.one("SELECT revision FROM threads WHERE k = ?", (finding.key,)) or (1,)
        tx.change("thread.updated", finding.thread, None, now, {"patch": {"revision": now}})
        return
    table, told = finding.more
    tx.run(f"UPDATE {table} SET revision = max(revision, ?) + 1 WHERE id = ?", (told, finding.id))
    (now,) = tx.one(f"SELECT revision FROM {table} WHERE id = ?", (finding.id,)) or (1,)
    tx.change("store.changed", id=finding.id, revision=now, detail={"kind": table, "id": finding.id})


def change_ahead(tx: Tx, finding: Finding) -> None:
    """The row stays, so that the sequence has no gap, and says nothing."""
    tx.run(
        "UPDATE changes SET kind = 'nothing', thread = NULL, id = NULL, revision = NULL, detail = NULL WHERE seq = ?",
        (finding.key,),
    )


def change_lost(tx: Tx, _finding: Finding) -> None:
    """Keep what follows the last gap; whoever stands before it reads anew, and so does the search index."""
    (start,) = tx.one(
        "SELECT max(c.seq) FROM changes c WHERE NOT EXISTS (SELECT 1 FROM changes d WHERE d.seq = c.seq - 1)"
    ) or (0,)
    tx.run("DELETE FROM changes WHERE seq < ?", (start,))
    search_index.begin_anew(tx)


def snapshot_damaged(tx: Tx, finding: Finding) -> None:
    """The run can no longer be continued: what it had said becomes a message."""
    row = tx.one("SELECT thread FROM runs WHERE k = ?", (finding.key,))
    tx.run("UPDATE runs SET environment = NULL, environment_digest = NULL WHERE k = ?", (finding.key,))
    thread = tx.thread_by_key(row[0]) if row is not None else None
    if thread is not None:
        runs.settle_partial(tx, thread)


def counter(tx: Tx, finding: Finding) -> None:
    tx.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('nextThread', ?)", (finding.more,))


def store_id(tx: Tx, _finding: Finding) -> None:
    tx.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('storeId', ?)", (tx.new_id(),))


def index_damaged(tx: Tx, _finding: Finding) -> None:
    tx.run("REINDEX")


def search_damaged(tx: Tx, _finding: Finding) -> None:
    """The index is made anew from what it is an index of; whoever searches next fills it."""
    tx.run("INSERT OR IGNORE INTO meta (key, value) VALUES ('indexedChange', 0)")
    search_index.begin_anew(tx)


def search_left_over(tx: Tx, _finding: Finding) -> bool:
    """Whether anything of what is gone was still in the index."""
    found = tx.all(verify_search.sql.left_over.replace("count(*)", "r.kind, r.ref"))
    for kind, ref in found:
        search_index.forget(tx, kind, ref)
    unnamed = tx.all("SELECT id FROM search_docsize WHERE id NOT IN (SELECT k FROM search_rows)")
    for row in unnamed:
        tx.run("DELETE FROM search WHERE rowid = ?", row)
    return bool(found or unnamed)


def text_damaged(tx: Tx, finding: Finding) -> None:
    table, name, key = finding.more
    if table == "settings" and key[0].decode("utf-8", "replace") in settings.KEYS:
        settings.put_instead(tx, key[0].decode())
        return
    keys = tx.all("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    at = " AND ".join(
        f'"{column}" = ?' if isinstance(part, int) else f'CAST("{column}" AS BLOB) = ?'
        for (column,), part in zip(keys, key, strict=True)
    )
    instead = JSON_COLUMNS.get((table, name), "")
    if instead is DROP:
        tx.run(f'DELETE FROM "{table}" WHERE {at}', key)
        return
    if (table, name) not in JSON_COLUMNS:
        (raw,) = tx.one(f'SELECT CAST("{name}" AS BLOB) FROM "{table}" WHERE {at}', key) or (b"",)
        instead = bytes(raw).decode("utf-8", "replace")
    tx.run(f'UPDATE "{table}" SET "{name}" = ? WHERE {at}', (instead, *key))


def setting_damaged(tx: Tx, finding: Finding) -> None:
    settings.put_instead(tx, finding.id or "")


def reference(tx: Tx, finding: Finding) -> None:
    """What the removal of the row that is missing would have done to those that name it."""
    table, number = finding.more
    rows = tx.all(
        'SELECT "table", "from", "to", on_delete FROM pragma_foreign_key_list(?) WHERE id = ?', (table, number)
    )
    for parent, column, to, on_delete in rows:
        loose = f'"{column}" IS NOT NULL AND "{column}" NOT IN (SELECT "{to}" FROM "{parent}")'
        if (table, column) == ("attachments", "blob"):
            _evict(tx, loose.replace('"blob"', "a.blob"), ())
        elif on_delete == "SET NULL" or table == "pages":
            tx.run(f'UPDATE "{table}" SET "{column}" = NULL WHERE {loose}')
        elif table == "attachments":
            # A part of a kept page outlives its thread.
            tx.run(f"UPDATE attachments SET thread = NULL WHERE {loose} AND id IN (SELECT attachment FROM page_parts)")
            tx.run(f"DELETE FROM attachments WHERE {loose}")
        else:
            tx.run(f'DELETE FROM "{table}" WHERE {loose}')
