-- name: open
SELECT r.k, r.id, t.id, r.thread, r.state, r.attempt, r.interrupt_requested,
  t.deleted_at IS NULL AND t.fence = r.fence,
  EXISTS (SELECT 1 FROM runs x WHERE x.thread = r.thread AND x.recoverable = 1),
  r.state = 'waiting_interaction' AND NOT r.interrupt_requested AND NOT EXISTS (SELECT 1 FROM interactions i
    WHERE i.run = r.k AND (i.status IN ('answered', 'expired') OR (i.status = 'pending' AND i.deadline_at IS NOT NULL)))
FROM runs r JOIN threads t ON t.k = r.thread
WHERE r.state NOT IN ('interrupted', 'failed', 'completed') ORDER BY r.k
