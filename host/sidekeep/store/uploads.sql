-- name: begin
INSERT INTO attachments (id, thread, blob, state, kind, mime, size, sha256, trust, provenance, created_at, source_ref,
  meta) VALUES (?, ?, ?, 'uploading', ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: find
SELECT a.k, a.blob, a.size, a.sha256, a.mime, b.sha256 IS NOT NULL, b.used_at
FROM attachments a JOIN blobs b ON b.k = a.blob WHERE a.id = ? AND a.state = 'uploading'

-- name: store
UPDATE attachments SET state = 'stored', blob = ?2, sha256 = ?3, mime = ?4 WHERE k = ?1

-- name: remove
DELETE FROM attachments WHERE k = ?

-- name: is_abandoned
SELECT 1 FROM attachments WHERE state = 'uploading' AND created_at < ? LIMIT 1

-- name: abandoned
SELECT k, blob FROM attachments WHERE state = 'uploading' AND created_at < ? LIMIT ?
