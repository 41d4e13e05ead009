-- name: open
SELECT r.k, r.id, t.id, r.thread, r.state, r.attempt, r.interrupt_requested,
  t.deleted_at IS NULL AND t.fence = r.fence,
  EXISTS (SELECT 1 FROM runs x WHERE x.thread = r.thread AND x.recoverable = 1)
FROM runs r JOIN threads t ON t.k = r.thread
WHERE r.state NOT IN ('interrupted', 'failed', 'completed') ORDER BY r.k
