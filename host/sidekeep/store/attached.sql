-- name: some
SELECT id, state, kind, mime, size, blob, trust, provenance, meta FROM attachments
WHERE id IN (SELECT value FROM json_each(?)) AND NOT deleting

-- name: chunks
SELECT bytes FROM blob_chunks WHERE k >= ? << 20 AND k < (? + 1) << 20 ORDER BY k
