-- name: newest
SELECT coalesce(max(k), 0) + 1 FROM search_rows

-- name: hits
SELECT s.rowid, r.kind, r.ref, t.id, t.title, t.preview, t.deleted_at, t.updated_at, n.id, CAST(n.payload AS BLOB), n.ts, p.id, p.title,
  p.captured_at
FROM search s CROSS JOIN search_rows r ON r.k = s.rowid
LEFT JOIN nodes n ON r.kind = 'node' AND n.k = r.ref
LEFT JOIN pages p ON r.kind = 'page' AND p.k = r.ref
LEFT JOIN threads t ON t.k = CASE r.kind WHEN 'node' THEN r.ref >> 32 WHEN 'title' THEN r.ref ELSE p.thread END
WHERE s.search MATCH ? AND s.rowid < ?
AND CASE r.kind WHEN 'node' THEN n.deleted = 0 AND t.deleted_at IS NULL
  WHEN 'title' THEN t.k IS NOT NULL AND t.deleted_at IS NULL ELSE p.k IS NOT NULL END
