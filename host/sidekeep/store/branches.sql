-- name: tips
SELECT k, id, ts FROM nodes n WHERE k > ?1 AND k < ?2 AND NOT deleted
  AND type NOT IN ('turn_context', 'interaction_response')
  AND NOT EXISTS (
    WITH RECURSIVE below (k, hidden) AS (
      SELECT c.k, c.deleted OR c.type IN ('turn_context', 'interaction_response') FROM nodes c WHERE c.parent = n.k
      UNION ALL
      SELECT c.k, c.deleted OR c.type IN ('turn_context', 'interaction_response')
      FROM below JOIN nodes c ON c.parent = below.k WHERE below.hidden AND +c.k > below.k
    )
    SELECT 1 FROM below WHERE NOT hidden
  )
ORDER BY k

-- name: has_visible_children
WITH RECURSIVE below (k, hidden) AS (
  SELECT c.k, c.deleted OR c.type IN ('turn_context', 'interaction_response') FROM nodes c WHERE c.parent = ?1
  UNION ALL
  SELECT c.k, c.deleted OR c.type IN ('turn_context', 'interaction_response')
  FROM below JOIN nodes c ON c.parent = below.k WHERE below.hidden AND +c.k > below.k
)
SELECT count(*) FROM below WHERE NOT hidden
