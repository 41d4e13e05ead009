-- name: columns
SELECT k, id, thread, run, status, deadline_at, decided_at, decided_by, decision, request FROM approvals

-- name: insert
INSERT INTO approvals (id, thread, run, status, requested_at, deadline_at, request)
VALUES (?, ?, ?, 'pending', ?, ?, ?)

-- name: decide
UPDATE approvals SET status = 'decided', decided_at = ?, decided_by = ?, decision = ?
WHERE k = ? AND status = 'pending' AND deadline_at > ?

-- name: end
UPDATE approvals SET status = ?, decided_at = ?, decided_by = ?, decision = ? WHERE k = ? AND status = 'pending'
