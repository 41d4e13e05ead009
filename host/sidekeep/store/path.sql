-- name: down_from
SELECT k, id, parent, type, deleted, CAST(payload AS BLOB) FROM nodes
WHERE k <= ? AND k > ? ORDER BY k DESC LIMIT ?

-- name: up_from
WITH RECURSIVE up (k, id, parent, type, deleted, payload) AS (
  SELECT k, id, parent, type, deleted, payload FROM nodes WHERE k = ?1
  UNION ALL
  SELECT n.k, n.id, n.parent, n.type, n.deleted, n.payload
  FROM up JOIN nodes n ON n.k = up.parent WHERE n.k < up.k AND n.k >> 32 = up.k >> 32
)
SELECT k, id, parent, type, deleted, CAST(payload AS BLOB) FROM up
