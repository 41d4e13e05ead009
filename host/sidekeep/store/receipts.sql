-- name: find
SELECT command_type, request_fingerprint, response FROM command_receipts
WHERE submission_id = ? AND client_id = ?

-- name: status
SELECT status, response FROM command_receipts WHERE submission_id = ? AND client_id = ?

-- name: keep
INSERT INTO command_receipts
  (client_id, submission_id, command_type, status, request_fingerprint, created_at, expires_at, response)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: collect
DELETE FROM command_receipts WHERE (submission_id, client_id) IN
  (SELECT submission_id, client_id FROM command_receipts WHERE expires_at < ? LIMIT ?)
