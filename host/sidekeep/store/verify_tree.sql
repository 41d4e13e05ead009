-- name: threads
SELECT k, CAST(id AS BLOB), leaf, next_seq, archived FROM threads ORDER BY k

-- name: next_owner
SELECT k FROM nodes WHERE k >= ? ORDER BY k LIMIT 1

-- name: nodes
SELECT n.k, coalesce(CAST(n.id AS BLOB), x''), iif(typeof(n.parent) IN ('integer', 'null'), n.parent, 0),
  coalesce(CAST(n.type AS BLOB), x''), n.ts, coalesce(CAST(n.digest AS BLOB), x''), coalesce(CAST(n.payload AS BLOB), x''),
  CAST(p.id AS BLOB), CAST(p.digest AS BLOB)
FROM nodes n LEFT JOIN nodes p ON p.k = n.parent WHERE n.k > ? AND n.k < ? ORDER BY n.k

-- name: node
SELECT n.k, coalesce(CAST(n.id AS BLOB), x''), iif(typeof(n.parent) IN ('integer', 'null'), n.parent, 0),
  coalesce(CAST(n.type AS BLOB), x''), n.ts, coalesce(CAST(n.digest AS BLOB), x''), coalesce(CAST(n.payload AS BLOB), x'')
FROM nodes n WHERE n.k = ?

-- name: link
SELECT CAST(id AS BLOB), CAST(digest AS BLOB) FROM nodes WHERE k = ?

-- name: loose_choices
SELECT b.parent, b.child FROM branch_choices b LEFT JOIN nodes n ON n.k = b.child
WHERE n.k IS NULL OR coalesce(n.parent, n.k >> 32 << 32) <> b.parent

-- name: sum
SELECT coalesce(sum(next_seq - 1), 0) FROM threads
