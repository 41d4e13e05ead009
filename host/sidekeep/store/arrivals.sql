-- name: standing
SELECT k, digest FROM nodes WHERE id = ?

-- name: origin
INSERT INTO node_origins (node, store, n) VALUES (?, ?, ?)

-- name: attachment
SELECT 1 FROM attachments WHERE id = ?

-- name: project
INSERT INTO projects (id, name, created_at, updated_at) VALUES (?, ?, ?, ?)
