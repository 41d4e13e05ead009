-- name: of_attachment
SELECT t.k, t.blob, t.size FROM attachments a JOIN attachments t ON t.source_ref = 'sha256:' || a.sha256
WHERE a.id = ? AND t.kind = 'page_text' AND t.state = 'stored'
ORDER BY t.thread IS a.thread DESC, t.k LIMIT 1

-- name: in_thread
SELECT k, id, size FROM attachments
WHERE source_ref = 'sha256:' || ?1 AND kind = 'page_text' AND state = 'stored' AND thread IS ?2 LIMIT 1

-- name: insert
INSERT INTO attachments (id, thread, blob, state, kind, mime, size, sha256, trust, provenance, created_at, source_ref,
  refs, meta) SELECT ?2, ?3, blob, state, kind, mime, size, sha256, trust, provenance, ?4, source_ref, NULL, meta
FROM attachments WHERE k = ?1

-- name: is_named
SELECT 1 FROM attachments WHERE sha256 = ?1 AND thread IS ?2 AND state = 'stored' LIMIT 1
