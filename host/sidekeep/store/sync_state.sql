-- name: heads
SELECT thread, commit_id, purged FROM sync_heads WHERE remote = ?

-- name: head_is
INSERT OR REPLACE INTO sync_heads (remote, thread, commit_id, purged) VALUES (?, ?, ?, ?)

-- name: ahead
SELECT count(*) FROM threads t LEFT JOIN session_repos s ON s.thread = t.k
LEFT JOIN sync_heads h ON h.remote = ? AND h.thread = t.id
WHERE coalesce(h.purged, 0) = 0 AND (s.commit_id IS NULL OR h.commit_id IS NULL OR s.commit_id <> h.commit_id
  OR s.committed_seq < t.next_seq - 1)

-- name: commits
SELECT t.id, s.commit_id FROM session_repos s JOIN threads t ON t.k = s.thread WHERE s.commit_id IS NOT NULL

-- name: tried
SELECT 1 FROM jobs WHERE kind = 'sync' AND (state IN ('queued', 'running') OR created_at > ?) LIMIT 1
