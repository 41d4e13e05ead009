-- name: find
SELECT a.k, a.id, t.id, a.blob, a.state, a.kind, a.mime, a.size, a.sha256, a.trust, a.provenance, a.pinned, a.created_at,
  a.source_ref, a.refs, a.meta
FROM attachments a LEFT JOIN threads t ON t.k = a.thread WHERE a.id = ?

-- name: listing
SELECT a.k, a.id, t.id, a.blob, a.state, a.kind, a.mime, a.size, a.sha256, a.trust, a.provenance, a.pinned, a.created_at,
  a.source_ref, a.refs, a.meta
FROM attachments a LEFT JOIN threads t ON t.k = a.thread
WHERE a.state <> 'uploading' AND a.k < ?1 AND (?2 IS NULL OR a.thread = ?2) AND (?3 IS NULL OR a.kind = ?3)
  AND t.deleted_at IS NULL
ORDER BY a.k DESC LIMIT ?4

-- name: refs
SELECT k, refs FROM attachments WHERE id = ?

-- name: set_refs
UPDATE attachments SET refs = ? WHERE k = ?

-- name: pin
UPDATE attachments SET pinned = ? WHERE k = ?

-- name: page_of
SELECT p.id FROM page_parts pp JOIN pages p ON p.k = pp.page WHERE pp.attachment = ? LIMIT 1

-- name: mark_nodes
UPDATE nodes SET evicted = 1 WHERE id IN (SELECT value FROM json_each(?)) AND evicted = 0
RETURNING k, id

-- name: remove
DELETE FROM attachments WHERE k = ?
