-- name: blobs
SELECT k, sha256, size FROM blobs WHERE sha256 IS NOT NULL AND dropped = 0 ORDER BY k

-- name: chunk_sizes
SELECT k & 1048575, length(bytes) FROM blob_chunks WHERE k >= ?1 << 20 AND k < (?1 + 1) << 20 ORDER BY k

-- name: chunks
SELECT k & 1048575, bytes FROM blob_chunks WHERE k >= ?1 << 20 AND k < (?1 + 1) << 20 ORDER BY k

-- name: next_chunk
SELECT k FROM blob_chunks WHERE k >= ? ORDER BY k LIMIT 1

-- name: is_blob
SELECT 1 FROM blobs WHERE k = ?

-- name: unnamed
SELECT k FROM blobs WHERE dropped = 0 AND NOT EXISTS (SELECT 1 FROM attachments WHERE attachments.blob = blobs.k)

-- name: disagreeing
SELECT a.k, a.id FROM attachments a LEFT JOIN blobs b ON b.k = a.blob
WHERE a.state = 'stored' AND (b.k IS NULL OR b.dropped = 1 OR b.sha256 IS NOT a.sha256 OR b.size <> a.size)

-- name: sum
SELECT coalesce(sum(size), 0) FROM blobs WHERE sha256 IS NOT NULL AND dropped = 0

-- name: lost_parts
SELECT p.page, p.idx, g.id FROM page_parts p JOIN pages g ON g.k = p.page
WHERE NOT EXISTS (SELECT 1 FROM attachments a WHERE a.id = p.attachment)
