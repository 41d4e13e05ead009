-- name: thread
SELECT k, id, title, title_source, title_mark, created_at, updated_at, leaf, next_seq, folder_id, tags, pinned,
  archived, preset, parent_thread, turns, total_tokens, cost_usd, scope_origins, revision, agent_id, project_id,
  source, channel, account_id, peer_id, peer_display, grouping, status, unread, preview, deleted_at, fence,
  (SELECT id FROM nodes WHERE k = threads.leaf), (SELECT name FROM projects WHERE id = threads.project_id)
FROM threads WHERE id = ?

-- name: thread_id
SELECT id FROM threads WHERE k = ?

-- name: change
INSERT INTO changes (at, kind, thread, id, revision, detail) VALUES (?, ?, ?, ?, ?, ?)
