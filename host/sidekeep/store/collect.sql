-- name: pages
SELECT (SELECT page_size FROM pragma_page_size), (SELECT page_count FROM pragma_page_count),
  (SELECT freelist_count FROM pragma_freelist_count)

-- name: stored_bytes
SELECT coalesce(sum(size), 0) FROM blobs

-- name: unnamed
SELECT k FROM blobs WHERE dropped = 0 AND NOT EXISTS (SELECT 1 FROM attachments WHERE attachments.blob = blobs.k)
LIMIT ?

-- name: next_chunk
SELECT k FROM blob_chunks WHERE k >= ? ORDER BY k LIMIT 1

-- name: is_blob
SELECT 1 FROM blobs WHERE k = ?
