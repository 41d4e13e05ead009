-- name: new
INSERT INTO blobs (size, created_at, used_at) VALUES (?, ?, ?)

-- name: known
SELECT k, size FROM blobs WHERE sha256 = ? AND dropped = 0

-- name: put
INSERT OR IGNORE INTO blob_chunks (k, bytes) VALUES (?1 << 20 | ?2, ?3)

-- name: replace
UPDATE blob_chunks SET bytes = ?3 WHERE k = ?1 << 20 | ?2

-- name: chunk
SELECT bytes FROM blob_chunks WHERE k = ?1 << 20 | ?2

-- name: count
SELECT count(*) FROM blob_chunks WHERE k >= ?1 << 20 AND k < (?1 + 1) << 20

-- name: indices
SELECT k & 1048575 FROM blob_chunks WHERE k >= ?1 << 20 AND k < (?1 + 1) << 20 ORDER BY k

-- name: touch
UPDATE blobs SET used_at = max(used_at + 1, ?2) WHERE k = ?1

-- name: finish
UPDATE blobs SET sha256 = ?2, used_at = max(used_at, ?3) WHERE k = ?1

-- name: note_use
UPDATE blobs SET used_at = ?2 WHERE sha256 = ?1 AND used_at < ?2

-- name: drop_unused
UPDATE blobs SET dropped = 1, sha256 = NULL WHERE k IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM attachments WHERE attachments.blob = blobs.k)

-- name: dropped
SELECT k, size FROM blobs WHERE dropped = 1 LIMIT ?

-- name: remove_chunks
DELETE FROM blob_chunks WHERE k IN (
  SELECT k FROM blob_chunks WHERE k >= ?1 << 20 AND k < (?1 + 1) << 20 ORDER BY k LIMIT ?2
)

-- name: remove
DELETE FROM blobs WHERE k = ?
