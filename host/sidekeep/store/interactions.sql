-- name: columns
SELECT k, id, thread, run, status, deadline_at, responded_at, claimed_by, response, request FROM interactions

-- name: insert
INSERT INTO interactions (id, thread, run, status, requested_at, deadline_at, claimed_by, request)
VALUES (?, ?, ?, 'pending', ?, ?, ?, ?)

-- name: answer
UPDATE interactions SET status = 'answered', responded_at = ?, response = ?
WHERE k = ? AND status = 'pending' AND (deadline_at IS NULL OR deadline_at > ?)

-- name: claim
UPDATE interactions SET status = 'claimed', responded_at = coalesce(responded_at, ?)
WHERE k = ? AND status IN ('answered', 'expired')

-- name: end
UPDATE interactions SET status = ?, responded_at = ? WHERE k = ? AND status = 'pending'
