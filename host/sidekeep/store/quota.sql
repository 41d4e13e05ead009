-- name: all
SELECT count(*), coalesce(sum(size), 0) FROM blobs WHERE sha256 IS NOT NULL AND dropped = 0

-- name: evictable
SELECT coalesce(sum(b.size), 0) FROM blobs b WHERE b.sha256 IS NOT NULL AND b.dropped = 0
AND EXISTS (SELECT 1 FROM attachments a WHERE a.blob = b.k)
AND NOT EXISTS (
  SELECT 1 FROM attachments a WHERE a.blob = b.k AND (
    a.pinned = 1 OR a.provenance NOT IN ('page', 'tool', 'mcp')
    OR EXISTS (SELECT 1 FROM page_parts p WHERE p.attachment = a.id)
  )
)
