-- name: columns
SELECT k, id, kind, state, cancel_requested, deaths, done, total, note, client_id, created_at, updated_at, code,
  message, params, position, result
FROM jobs

-- name: insert
INSERT INTO jobs (id, kind, state, client_id, created_at, updated_at, params) VALUES (?, ?, 'queued', ?, ?, ?, ?)

-- name: waiting
SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')

-- name: take
UPDATE jobs SET state = 'running', deaths = ?, updated_at = ? WHERE k = ? AND state IN ('queued', 'running')

-- name: step
UPDATE jobs SET done = ?, total = ?, note = ?, position = ?, deaths = ?, updated_at = ? WHERE k = ? AND state = 'running'

-- name: end
UPDATE jobs SET state = ?1, code = ?2, message = ?3, result = ?4, position = NULL, updated_at = ?5,
  done = CASE ?1 WHEN 'done' THEN coalesce(total, done) ELSE done END
WHERE k = ?6 AND state IN ('queued', 'running')

-- name: put_back
UPDATE jobs SET state = 'queued', updated_at = ? WHERE k = ? AND state = 'running'

-- name: ask_to_cancel
UPDATE jobs SET cancel_requested = 1, updated_at = ? WHERE k = ? AND state = 'running'

-- name: forget_old
DELETE FROM jobs WHERE state NOT IN ('queued', 'running') AND (updated_at < ?1 OR k <=
  coalesce((SELECT k FROM jobs WHERE state NOT IN ('queued', 'running') ORDER BY k DESC LIMIT 1 OFFSET ?2), -1))
