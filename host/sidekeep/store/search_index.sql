-- name: position
SELECT (SELECT value FROM meta WHERE key = 'indexedChange'), coalesce((SELECT max(seq) FROM changes), 0)

-- name: advance
UPDATE meta SET value = ?2 WHERE key = 'indexedChange' AND value = ?1

-- name: changes
SELECT seq, kind, thread, id, detail FROM changes WHERE seq > ? ORDER BY seq LIMIT ?

-- name: node
SELECT k, type, CAST(payload AS BLOB) FROM nodes WHERE id = ?
AND type IN ('user_message', 'assistant_message', 'system_notice')
AND NOT EXISTS (SELECT 1 FROM search_rows r WHERE r.kind = 'node' AND r.ref = nodes.k)

-- name: nodes_of_thread
SELECT n.k, n.type, CAST(n.payload AS BLOB) FROM threads t JOIN nodes n ON n.k > t.k << 32 AND n.k < (t.k + 1) << 32
WHERE t.id = ?1 AND n.type IN ('user_message', 'assistant_message', 'system_notice')
AND NOT EXISTS (SELECT 1 FROM search_rows r WHERE r.kind = 'node' AND r.ref = n.k)
ORDER BY n.k LIMIT ?2

-- name: title
SELECT k, title FROM threads WHERE id = ?

-- name: page
SELECT k, title, url, text, selection FROM pages WHERE id = ?

-- name: page_text
SELECT a.blob FROM page_parts pp JOIN attachments a ON a.id = pp.attachment
WHERE pp.page = ? AND a.kind = 'page_text' AND a.blob IS NOT NULL ORDER BY pp.idx LIMIT 1

-- name: add_row
INSERT INTO search_rows (kind, ref) SELECT ?1, ?2 WHERE CASE ?1
  WHEN 'node' THEN EXISTS (SELECT 1 FROM nodes WHERE k = ?2)
  WHEN 'page' THEN EXISTS (SELECT 1 FROM pages WHERE k = ?2)
  ELSE EXISTS (SELECT 1 FROM threads WHERE k = ?2) END
ON CONFLICT (kind, ref) DO NOTHING

-- name: add
INSERT INTO search (rowid, text, cjk) VALUES (?, ?, ?)

-- name: row
SELECT k FROM search_rows WHERE kind = ? AND ref = ?

-- name: drop
DELETE FROM search WHERE rowid = ?

-- name: drop_row
DELETE FROM search_rows WHERE k = ?

-- name: drop_all
INSERT INTO search (search) VALUES ('delete-all')

-- name: all_threads_anew
INSERT INTO changes (at, kind, thread) SELECT ?, 'search.anew', id FROM threads ORDER BY k

-- name: all_pages_anew
INSERT INTO changes (at, kind, id) SELECT ?, 'search.anew', id FROM pages ORDER BY k
