-- name: keep_page_parts
UPDATE attachments SET thread = NULL WHERE thread = ?1 AND id IN (SELECT attachment FROM page_parts)

-- name: drop_search
DELETE FROM search WHERE rowid IN (
  SELECT k FROM search_rows WHERE (kind = 'node' AND ref > ?1 << 32 AND ref < (?1 + 1) << 32)
  OR (kind = 'title' AND ref = ?1)
)

-- name: drop_search_rows
DELETE FROM search_rows WHERE (kind = 'node' AND ref > ?1 << 32 AND ref < (?1 + 1) << 32)
  OR (kind = 'title' AND ref = ?1)

-- name: blobs_of_thread
SELECT DISTINCT blob FROM attachments WHERE thread = ? AND blob IS NOT NULL

-- name: drop_attachments
DELETE FROM attachments WHERE thread = ?

-- name: drop_thread
DELETE FROM threads WHERE k = ?
