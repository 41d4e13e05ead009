-- name: receipts
SELECT CAST(client_id AS BLOB), CAST(submission_id AS BLOB), CAST(command_type AS BLOB), status,
  CAST(request_fingerprint AS BLOB), CAST(response AS BLOB) FROM command_receipts

-- name: change_range
SELECT count(*), coalesce(min(seq), 1), coalesce(max(seq), 0) FROM changes

-- name: thread_revisions
SELECT t.k, t.id, t.revision, max(c.revision) FROM changes c JOIN threads t ON t.id = c.thread
WHERE c.kind IN ('thread.created', 'thread.updated') AND c.revision IS NOT NULL GROUP BY t.k
HAVING t.revision <> max(c.revision)

-- name: node_changes
SELECT c.seq, t.id, c.revision FROM changes c JOIN threads t ON t.id = c.thread
WHERE c.kind = 'thread.node' AND (c.revision IS NULL OR c.revision < 1 OR c.revision >= t.next_seq)

-- name: changed_things
SELECT CASE WHEN json_valid(detail) THEN json_extract(detail, '$.kind') END AS told, id, revision, max(seq) FROM changes
WHERE kind = 'store.changed' GROUP BY told, id

-- name: snapshots
SELECT k, id, CAST(environment AS BLOB), environment_digest, recoverable FROM runs WHERE environment IS NOT NULL

-- name: newest_thread
SELECT coalesce(max(k), 0) FROM threads

-- name: newest_owner
SELECT coalesce(max(k), 0) >> 32 FROM nodes

-- name: pages
SELECT k, id, url, title, captured_at, digest, CAST(cut AS BLOB), CAST(text AS BLOB) FROM pages

-- name: page_parts
SELECT a.sha256 FROM page_parts p LEFT JOIN attachments a ON a.id = p.attachment WHERE p.page = ? ORDER BY p.idx
