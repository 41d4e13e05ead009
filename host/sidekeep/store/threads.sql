-- name: next_key
UPDATE meta SET value = value + 1 WHERE key = 'nextThread' RETURNING value - 1

-- name: insert
INSERT INTO threads (k, id, title, title_source, created_at, updated_at, folder_id, tags, preset, parent_thread,
  project_id, source, agent_id, channel, account_id, peer_id, peer_display)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: columns
SELECT k, id, title, title_source, title_mark, created_at, updated_at, leaf, next_seq, folder_id, tags, pinned,
  archived, preset, parent_thread, turns, total_tokens, cost_usd, scope_origins, revision, agent_id, project_id,
  source, channel, account_id, peer_id, peer_display, grouping, status, unread, preview, deleted_at, fence,
  (SELECT id FROM nodes WHERE k = threads.leaf), (SELECT name FROM projects WHERE id = threads.project_id)
FROM threads

-- name: begin_with
SELECT id FROM threads WHERE id >= ? AND id < ? AND deleted_at IS NULL ORDER BY id LIMIT ?
