-- How far each remote is, and what was removed for good and must not come back from one.
-- Only adds: an older program goes on writing; what it removes is noted by the trigger.

CREATE TABLE sync_heads (
  remote TEXT NOT NULL,
  thread TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1)),
  PRIMARY KEY (remote, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_remotes (
  remote TEXT PRIMARY KEY,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_purges (
  thread TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER thread_purged_for_good AFTER DELETE ON threads
BEGIN
  INSERT OR REPLACE INTO sync_purges (thread, at)
  VALUES (OLD.id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
