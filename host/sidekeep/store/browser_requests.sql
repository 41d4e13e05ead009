-- name: columns
SELECT k, id, run, client_id, status, claimed_by, created_at, deadline_at, tool, params, response FROM browser_requests

-- name: insert
INSERT INTO browser_requests (id, run, client_id, status, created_at, deadline_at, tool, params)
VALUES (?, ?, ?, 'open', ?, ?, ?, ?)

-- name: where
SELECT t.id, r.turn_id FROM browser_requests b JOIN runs r ON r.k = b.run JOIN threads t ON t.k = r.thread
WHERE b.k = ? AND r.open AND t.deleted_at IS NULL

-- name: claim
UPDATE browser_requests SET status = 'claimed', claimed_by = ?, deadline_at = ?
WHERE k = ? AND status = ? AND claimed_by IS ?

-- name: answer
UPDATE browser_requests SET status = 'answered', response = ?
WHERE k = ? AND status IN ('open', 'claimed') AND deadline_at > ?

-- name: end
UPDATE browser_requests SET status = 'expired' WHERE id = ? AND status IN ('open', 'claimed')

-- name: taken
UPDATE browser_requests SET response = NULL WHERE id = ? AND status = 'answered'

-- name: end_of_run
UPDATE browser_requests SET status = 'expired' WHERE run = ? AND status IN ('open', 'claimed')
