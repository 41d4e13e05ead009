-- name: insert
INSERT INTO nodes (k, id, parent, type, ts, digest, payload) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: choose_appended
UPDATE branch_choices SET child = ? WHERE parent = ?

-- name: choose
INSERT INTO branch_choices (parent, child) VALUES (?, ?) ON CONFLICT (parent) DO UPDATE SET child = excluded.child

-- name: choices
SELECT parent, child FROM branch_choices WHERE parent >= ? AND parent < ?

-- name: digest
SELECT digest FROM nodes WHERE k = ?

-- name: key
SELECT k, type, deleted, parent FROM nodes WHERE id = ?

-- name: node
SELECT k, id, parent, type, deleted, evicted, ts, CAST(payload AS BLOB) FROM nodes WHERE k = ?

-- name: node_by_id
SELECT k, id, parent, type, deleted, evicted, ts, CAST(payload AS BLOB) FROM nodes WHERE id = ?

-- name: id
SELECT id FROM nodes WHERE k = ?

-- name: path
WITH RECURSIVE up (depth, k, id, parent, type, deleted, evicted, ts, payload) AS (
  SELECT 0, k, id, parent, type, deleted, evicted, ts, payload FROM nodes WHERE k = ?1
  UNION ALL
  SELECT up.depth + 1, n.k, n.id, n.parent, n.type, n.deleted, n.evicted, n.ts, n.payload
  FROM up JOIN nodes n ON n.k = up.parent WHERE n.k < up.k AND n.k >> 32 = up.k >> 32
  LIMIT ?2
)
SELECT k, id, parent, type, deleted, evicted, ts, CAST(payload AS BLOB) FROM up

-- name: ancestors
WITH RECURSIVE up (k, parent, type, deleted) AS (
  SELECT k, parent, type, deleted FROM nodes WHERE k = ?1
  UNION ALL
  SELECT n.k, n.parent, n.type, n.deleted FROM up JOIN nodes n ON n.k = up.parent
  WHERE n.k < up.k AND n.k >> 32 = up.k >> 32
  LIMIT ?2
)
SELECT k, parent, type, deleted FROM up

-- name: kids
-- The plus keeps a lookup by parent from becoming a walk over all later rows.
WITH RECURSIVE kids (anchor, k, id, hidden) AS (
  SELECT n.parent, n.k, n.id, n.deleted OR n.type IN ('turn_context', 'interaction_response')
  FROM json_each(?1) a JOIN nodes n ON n.parent = a.value
  UNION ALL
  SELECT kids.anchor, n.k, n.id, n.deleted OR n.type IN ('turn_context', 'interaction_response')
  FROM kids JOIN nodes n ON n.parent = kids.k WHERE kids.hidden AND +n.k > kids.k
)
SELECT anchor, k, id FROM kids WHERE NOT hidden ORDER BY anchor, k

-- name: root_kids
WITH RECURSIVE kids (k, id, hidden) AS (
  SELECT k, id, deleted OR type IN ('turn_context', 'interaction_response')
  FROM nodes WHERE parent IS NULL AND k > ?1 AND k < ?2
  UNION ALL
  SELECT n.k, n.id, n.deleted OR n.type IN ('turn_context', 'interaction_response')
  FROM kids JOIN nodes n ON n.parent = kids.k WHERE kids.hidden AND +n.k > kids.k
)
SELECT k, id FROM kids WHERE NOT hidden ORDER BY k

-- name: children
SELECT k FROM nodes WHERE parent = ? ORDER BY k

-- name: below
SELECT k, parent, type, deleted FROM nodes WHERE k > ? AND k < ? ORDER BY k

-- name: set_deleted
UPDATE nodes SET deleted = ? WHERE k = ?

-- name: count
SELECT count(*) FROM nodes WHERE k > ? AND k < ?

-- name: edges
SELECT k, parent FROM nodes WHERE k > ? AND k < ?
