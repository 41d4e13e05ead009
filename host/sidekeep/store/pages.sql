-- name: insert
INSERT INTO pages (id, thread, url, site, title, captured_at, created_at, digest, cut, selection, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: part
INSERT INTO page_parts (page, idx, attachment) VALUES (?, ?, ?)

-- name: adopt
UPDATE attachments SET thread = ?2 WHERE id = ?1 AND thread IS NULL

-- name: find
SELECT p.k, p.id, t.id, p.url, p.title, p.captured_at, p.digest, p.cut, p.selection, p.text,
  (SELECT json_group_array(attachment) FROM (SELECT attachment FROM page_parts WHERE page = p.k ORDER BY idx))
FROM pages p LEFT JOIN threads t ON t.k = p.thread WHERE p.id = ?

-- name: listing
SELECT p.k, p.id, t.id, p.url, p.title, p.captured_at, p.digest, p.cut, NULL, NULL,
  (SELECT json_group_array(attachment) FROM (SELECT attachment FROM page_parts WHERE page = p.k ORDER BY idx))
FROM pages p LEFT JOIN threads t ON t.k = p.thread
WHERE (?1 IS NULL OR p.thread = ?1) AND (?2 IS NULL OR p.site = ?2 OR substr(p.site, -length(?2) - 1) = '.' || ?2)
  AND (p.captured_at, p.id) < (?3, ?4)
ORDER BY p.captured_at DESC, p.id DESC LIMIT ?5

-- name: total
SELECT count(*) FROM pages p
WHERE (?1 IS NULL OR p.thread = ?1) AND (?2 IS NULL OR p.site = ?2 OR substr(p.site, -length(?2) - 1) = '.' || ?2)

-- name: part_of_kind
SELECT a.blob, a.size, a.mime FROM page_parts pp JOIN pages p ON p.k = pp.page JOIN attachments a ON a.id = pp.attachment
WHERE p.id = ? AND a.kind = ? AND a.blob IS NOT NULL ORDER BY pp.idx LIMIT 1

-- name: remove
DELETE FROM pages WHERE k = ?

-- name: named_elsewhere
SELECT 1 FROM page_parts WHERE attachment = ? LIMIT 1
