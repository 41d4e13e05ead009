-- name: insert
INSERT INTO steers (run, created_at, input) VALUES (?, ?, ?)

-- name: waiting
SELECT k, input FROM steers WHERE run = ? AND taken = 0 ORDER BY k

-- name: one_waiting
SELECT 1 FROM steers WHERE run = ? AND taken = 0 LIMIT 1

-- name: take
UPDATE steers SET taken = 1 WHERE k = ?

-- name: last_node
UPDATE runs SET last_node = ? WHERE k = ?
