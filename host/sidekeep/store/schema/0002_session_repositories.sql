-- What the archive of conversations in Git still has to do, and what it has done.
-- Only adds: an older program goes on writing; its changes are found by revision and sequence.

ALTER TABLE session_repos ADD COLUMN index_commit TEXT;

-- Turns that ended and have no commit yet; a row goes in the transaction that notes the commit.
CREATE TABLE session_turns (
  run INTEGER PRIMARY KEY REFERENCES runs (k) ON DELETE CASCADE,
  thread INTEGER NOT NULL REFERENCES threads (k) ON DELETE CASCADE
) STRICT;
CREATE INDEX session_turns_by_thread ON session_turns (thread);

CREATE TRIGGER run_ended AFTER UPDATE OF state, recoverable ON runs
WHEN NEW.kind <> 'title' AND NEW.recoverable = 0 AND NEW.state IN ('interrupted', 'failed', 'completed')
  AND (OLD.recoverable <> 0 OR OLD.state NOT IN ('interrupted', 'failed', 'completed'))
BEGIN
  INSERT OR IGNORE INTO session_turns (run, thread) VALUES (NEW.k, NEW.thread);
END;

-- Tombstones that were set or taken away since the thread's last commit, and when.
CREATE TABLE session_marks (
  node INTEGER PRIMARY KEY REFERENCES nodes (k) ON DELETE CASCADE,
  at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER node_marked AFTER UPDATE OF deleted ON nodes WHEN NEW.deleted <> OLD.deleted
BEGIN
  INSERT OR REPLACE INTO session_marks (node, at) VALUES (NEW.k, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

-- Nodes that another store made: whose, and how that store counts them.
CREATE TABLE node_origins (
  node INTEGER PRIMARY KEY REFERENCES nodes (k) ON DELETE CASCADE,
  store TEXT NOT NULL,
  n INTEGER NOT NULL
) STRICT;

-- The commits of a thread's repository, as its history shows them.
CREATE TABLE session_commits (
  k INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL REFERENCES threads (k) ON DELETE CASCADE,
  id TEXT NOT NULL,
  message TEXT NOT NULL,
  ts INTEGER NOT NULL,
  turn_id TEXT
) STRICT;
CREATE INDEX session_commits_by_thread ON session_commits (thread, k);

-- Threads that are gone for good and whose repositories are not yet.
CREATE TABLE session_purges (
  thread TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER thread_purged BEFORE DELETE ON threads
BEGIN
  INSERT OR REPLACE INTO session_purges (thread, at)
  VALUES (OLD.id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
