-- name: position
SELECT (SELECT value FROM meta WHERE key = 'indexedChange'), coalesce((SELECT max(seq) FROM changes), 0)

-- name: missing
SELECT (SELECT count(*) FROM nodes n WHERE n.type IN ('user_message', 'assistant_message', 'system_notice')
    AND NOT EXISTS (SELECT 1 FROM search_rows r WHERE r.kind = 'node' AND r.ref = n.k))
  + (SELECT count(*) FROM threads t WHERE NOT EXISTS (SELECT 1 FROM search_rows r WHERE r.kind = 'title' AND r.ref = t.k))
  + (SELECT count(*) FROM pages p WHERE NOT EXISTS (SELECT 1 FROM search_rows r WHERE r.kind = 'page' AND r.ref = p.k))

-- name: left_over
SELECT count(*) FROM search_rows r WHERE NOT CASE r.kind
  WHEN 'node' THEN EXISTS (SELECT 1 FROM nodes WHERE k = r.ref)
  WHEN 'page' THEN EXISTS (SELECT 1 FROM pages WHERE k = r.ref)
  ELSE EXISTS (SELECT 1 FROM threads WHERE k = r.ref) END

-- name: unnamed
SELECT count(*) FROM search_docsize d WHERE NOT EXISTS (SELECT 1 FROM search_rows r WHERE r.k = d.id)

-- name: named
SELECT count(*) FROM search_rows

-- name: wordless
SELECT r.kind, CASE r.kind WHEN 'node' THEN (SELECT CAST(payload AS BLOB) FROM nodes WHERE k = r.ref)
  WHEN 'title' THEN (SELECT CAST(title AS BLOB) FROM threads WHERE k = r.ref)
  ELSE (SELECT CAST(title AS BLOB) FROM pages WHERE k = r.ref) END
FROM search_rows r WHERE NOT EXISTS (SELECT 1 FROM search_docsize d WHERE d.id = r.k)
