-- name: prune_changes
DELETE FROM changes WHERE seq IN (
  SELECT seq FROM changes
  WHERE seq < coalesce((SELECT min(seq) FROM changes WHERE at >= ?1), (SELECT max(seq) FROM changes))
    AND seq <= (SELECT value FROM meta WHERE key = 'indexedChange')
  ORDER BY seq LIMIT ?2
)

-- name: expired_trash
SELECT id FROM threads WHERE deleted_at IS NOT NULL AND deleted_at < ? ORDER BY deleted_at LIMIT ?
