-- name: candidates
SELECT b.k, b.size, b.used_at FROM blobs b
WHERE b.sha256 IS NOT NULL AND b.dropped = 0
AND (?3 IS NULL OR b.k IN (SELECT value FROM json_each(?3)))
AND EXISTS (SELECT 1 FROM attachments a WHERE a.blob = b.k)
AND NOT EXISTS (
  SELECT 1 FROM attachments a LEFT JOIN threads t ON t.k = a.thread WHERE a.blob = b.k AND (
    a.state <> 'stored' OR a.pinned = 1 OR a.provenance NOT IN ('page', 'tool', 'mcp')
    OR t.deleted_at IS NOT NULL
    OR t.id IN (SELECT value FROM json_each(?1))
    OR EXISTS (SELECT 1 FROM page_parts p WHERE p.attachment = a.id)
    OR EXISTS (SELECT 1 FROM runs r WHERE r.thread = a.thread AND r.state NOT IN ('interrupted', 'failed', 'completed'))
  )
)
ORDER BY b.used_at, b.k LIMIT ?2

-- name: attachments
SELECT a.k, a.id, t.id, a.refs FROM attachments a LEFT JOIN threads t ON t.k = a.thread
WHERE a.blob IN (SELECT value FROM json_each(?)) ORDER BY a.k

-- name: mark
UPDATE attachments SET state = 'evicted', blob = NULL WHERE blob IN (SELECT value FROM json_each(?))
