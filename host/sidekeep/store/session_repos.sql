-- name: all_due
SELECT t.id FROM threads t LEFT JOIN session_repos s ON s.thread = t.k
WHERE s.thread IS NULL OR s.committed_revision <> t.revision OR s.committed_seq < t.next_seq - 1
  OR EXISTS (SELECT 1 FROM session_turns x WHERE x.thread = t.k)
ORDER BY t.k

-- name: changed
SELECT DISTINCT thread FROM changes WHERE seq > ? AND thread IS NOT NULL

-- name: last_change
SELECT coalesce(max(seq), 0) FROM changes

-- name: position
SELECT committed_seq, committed_revision, commit_id, index_commit FROM session_repos WHERE thread = ?

-- name: turns
SELECT r.k, r.id, r.turn_id, r.state, r.stop_reason, r.user_node, r.last_node, r.finished_at, r.updated_at, r.usage,
  r.cost_usd, r.environment_digest, CAST(r.environment AS BLOB)
FROM session_turns x JOIN runs r ON r.k = x.run WHERE x.thread = ? ORDER BY coalesce(r.last_node, r.user_node, 0), r.k

-- name: with_turns
SELECT t.id FROM threads t WHERE t.id IN (SELECT value FROM json_each(?))
  AND EXISTS (SELECT 1 FROM session_turns x WHERE x.thread = t.k) ORDER BY t.k

-- name: asked
SELECT CAST(n.payload AS BLOB) FROM runs r JOIN nodes n ON n.k = r.user_node WHERE r.id = ?

-- name: nodes
SELECT n.k, n.id, n.type, n.ts, n.deleted, n.digest, CAST(n.payload AS BLOB), p.id, p.digest, o.store, o.n
FROM nodes n LEFT JOIN nodes p ON p.k = n.parent LEFT JOIN node_origins o ON o.node = n.k
WHERE n.k > ? AND n.k <= ? ORDER BY n.k

-- name: marked
SELECT n.k, n.id, n.type, n.ts, n.deleted, n.digest, CAST(n.payload AS BLOB), p.id, p.digest, o.store, o.n, m.at
FROM session_marks m JOIN nodes n ON n.k = m.node LEFT JOIN nodes p ON p.k = n.parent
LEFT JOIN node_origins o ON o.node = n.k
WHERE m.node > ? AND m.node < ? ORDER BY n.k

-- name: uploads
SELECT a.id, a.blob, a.size, a.meta FROM attachments a
WHERE a.id IN (SELECT value FROM json_each(?)) AND a.provenance = 'user' AND a.kind IN ('image', 'file')
  AND a.state = 'stored' AND a.blob IS NOT NULL

-- name: settle
INSERT INTO session_repos (thread, committed_seq, committed_revision, turn_id, commit_id, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (thread) DO UPDATE SET committed_seq = excluded.committed_seq, turn_id = excluded.turn_id,
  committed_revision = excluded.committed_revision, commit_id = excluded.commit_id, updated_at = excluded.updated_at

-- name: note_commit
INSERT INTO session_commits (thread, id, message, ts, turn_id) SELECT ?, ?, ?, ?, ?
WHERE NOT EXISTS (SELECT 1 FROM session_commits WHERE thread = ? AND id = ?)

-- name: turn_done
DELETE FROM session_turns WHERE run = (SELECT k FROM runs WHERE id = ?)

-- name: mark_done
DELETE FROM session_marks WHERE node = ? AND at = ?

-- name: index_done
UPDATE session_repos SET index_commit = ?2 WHERE thread = (SELECT k FROM threads WHERE id = ?1)

-- name: stale_indexes
SELECT t.id FROM session_repos s JOIN threads t ON t.k = s.thread
WHERE s.commit_id IS NOT NULL AND s.index_commit IS NOT s.commit_id ORDER BY t.k

-- name: commits
SELECT id, message, ts, turn_id FROM session_commits WHERE thread = ? ORDER BY k DESC LIMIT ?

-- name: purges
SELECT thread, at FROM session_purges ORDER BY at LIMIT ?

-- name: purged
DELETE FROM session_purges WHERE thread = ?

-- name: forget
DELETE FROM session_commits WHERE thread = (SELECT k FROM threads WHERE id = ?)

-- name: all_turns_again
INSERT OR IGNORE INTO session_turns (run, thread) SELECT r.k, r.thread FROM runs r
WHERE r.thread = (SELECT k FROM threads WHERE id = ?) AND r.kind <> 'title' AND r.recoverable = 0
  AND r.state IN ('interrupted', 'failed', 'completed')

-- name: forget_position
DELETE FROM session_repos WHERE thread = (SELECT k FROM threads WHERE id = ?)

-- name: positions
SELECT t.id, t.project_id, s.committed_seq, s.committed_revision, s.commit_id, t.revision
FROM session_repos s JOIN threads t ON t.k = s.thread ORDER BY t.k

-- name: newest
SELECT t.id, t.title, t.updated_at, (SELECT count(*) FROM session_commits c WHERE c.thread = t.k), s.commit_id,
  s.thread IS NULL OR s.committed_revision <> t.revision OR s.committed_seq < t.next_seq - 1
FROM threads t LEFT JOIN session_repos s ON s.thread = t.k
WHERE t.deleted_at IS NULL ORDER BY t.updated_at DESC, t.id DESC LIMIT ?

-- name: standings
SELECT t.id, s.committed_seq, s.commit_id FROM session_repos s JOIN threads t ON t.k = s.thread
WHERE s.commit_id IS NOT NULL ORDER BY t.k

-- name: digests
SELECT n.id, n.k, n.digest, n.deleted FROM nodes n JOIN threads t ON n.k > t.k << 32 AND n.k < (t.k + 1) << 32
WHERE t.id = ? ORDER BY n.k

-- name: mark_waits
SELECT 1 FROM session_marks m JOIN nodes n ON n.k = m.node WHERE n.id = ?
