-- The first schema: every table of the product.
-- Keys: threads count up from meta.nextThread and are never used again; a node's key is
-- thread << 32 | seq, so that a thread lies together on disk and its purge is one range.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL DEFAULT '',
  title_source TEXT NOT NULL DEFAULT 'none' CHECK (title_source IN ('none', 'first_line', 'model', 'user')),
  title_mark INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  leaf INTEGER,
  next_seq INTEGER NOT NULL DEFAULT 1,
  folder_id TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  preset TEXT,
  parent_thread TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  total_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  scope_origins TEXT NOT NULL DEFAULT '[]',
  revision INTEGER NOT NULL DEFAULT 1,
  agent_id TEXT NOT NULL DEFAULT 'main',
  project_id TEXT,
  source TEXT NOT NULL DEFAULT 'panel',
  channel TEXT,
  account_id TEXT,
  peer_id TEXT,
  peer_display TEXT,
  grouping TEXT,
  status TEXT NOT NULL DEFAULT 'idle'
    CHECK (status IN ('idle', 'running', 'needs_input', 'done', 'failed', 'interrupted')),
  unread INTEGER NOT NULL DEFAULT 0 CHECK (unread IN (0, 1)),
  preview TEXT,
  deleted_at INTEGER,
  fence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX threads_listed ON threads (updated_at DESC, id DESC) WHERE archived = 0 AND deleted_at IS NULL;
CREATE INDEX threads_archived ON threads (updated_at DESC, id DESC) WHERE archived = 1 AND deleted_at IS NULL;
CREATE INDEX threads_trashed ON threads (updated_at DESC, id DESC) WHERE deleted_at IS NOT NULL;

-- Children are found by parent and never stored. NO ACTION on the parent: a cascade along a
-- chain of 10,000 nests too deep; the purge of a thread is one statement over its key range.
CREATE TABLE nodes (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  parent INTEGER REFERENCES nodes (k) ON DELETE NO ACTION,
  type TEXT NOT NULL CHECK (type IN ('user_message', 'assistant_message', 'tool_call', 'tool_result',
    'approval_decision', 'interaction_response', 'turn_context', 'system_notice')),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  evicted INTEGER NOT NULL DEFAULT 0 CHECK (evicted IN (0, 1)),
  ts INTEGER NOT NULL,
  digest TEXT NOT NULL,
  payload TEXT NOT NULL,
  CHECK (parent IS NULL OR (parent < k AND parent >> 32 = k >> 32)),
  CHECK (k & 4294967295 > 0)
) STRICT;
CREATE INDEX nodes_by_parent ON nodes (parent);

CREATE TRIGGER thread_takes_its_nodes BEFORE DELETE ON threads BEGIN
  DELETE FROM nodes WHERE k > OLD.k << 32 AND k < (OLD.k + 1) << 32;
  DELETE FROM branch_choices WHERE parent >= OLD.k << 32 AND parent < (OLD.k + 1) << 32;
END;

-- parent is the raw parent's key, thread << 32 for a root.
CREATE TABLE branch_choices (
  parent INTEGER PRIMARY KEY,
  child INTEGER NOT NULL
) STRICT;

CREATE TABLE command_receipts (
  client_id TEXT NOT NULL,
  submission_id TEXT NOT NULL,
  command_type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('acknowledged', 'rejected')),
  request_fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  response TEXT NOT NULL,
  PRIMARY KEY (submission_id, client_id)
) STRICT;

-- What every other process learns of a commit. No foreign key: rows outlive what they name.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  thread TEXT,
  id TEXT,
  revision INTEGER,
  detail TEXT
) STRICT;

CREATE TABLE runs (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL REFERENCES threads (k) ON DELETE CASCADE,
  turn_id TEXT NOT NULL,
  kind TEXT NOT NULL DEFAULT 'turn' CHECK (kind IN ('turn', 'regenerate', 'title')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'preparing', 'streaming_model', 'waiting_approval',
    'waiting_interaction', 'executing_tool', 'paused_budget', 'paused_uncertain', 'interrupted',
    'failed', 'completed', 'handed_over')),
  open INTEGER NOT NULL GENERATED ALWAYS AS
    (state NOT IN ('interrupted', 'failed', 'completed')) VIRTUAL,
  client_id TEXT NOT NULL,
  submission_id TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  deaths INTEGER NOT NULL DEFAULT 0,
  step INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL,
  move TEXT,
  user_node INTEGER,
  last_node INTEGER,
  recoverable INTEGER NOT NULL DEFAULT 0 CHECK (recoverable IN (0, 1)),
  interrupt_requested INTEGER NOT NULL DEFAULT 0 CHECK (interrupt_requested IN (0, 1)),
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  stop_reason TEXT,
  error TEXT,
  usage TEXT,
  cost_usd REAL NOT NULL DEFAULT 0,
  overrides TEXT,
  browser_context TEXT,
  input TEXT NOT NULL,
  partial TEXT,
  environment TEXT,
  environment_digest TEXT
) STRICT;
CREATE INDEX runs_by_thread ON runs (thread, k);
CREATE INDEX runs_open ON runs (k) WHERE state NOT IN ('interrupted', 'failed', 'completed');
CREATE INDEX runs_recoverable ON runs (thread) WHERE recoverable = 1;

CREATE TABLE steers (
  k INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (k) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0 CHECK (taken IN (0, 1)),
  input TEXT NOT NULL
) STRICT;
CREATE INDEX steers_by_run ON steers (run, k);

CREATE TABLE approvals (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL REFERENCES threads (k) ON DELETE CASCADE,
  run INTEGER NOT NULL REFERENCES runs (k) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'decided', 'expired', 'cancelled')),
  requested_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  decision TEXT,
  request TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_by_thread ON approvals (thread, status);
CREATE INDEX approvals_by_run ON approvals (run);

CREATE TABLE interactions (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL REFERENCES threads (k) ON DELETE CASCADE,
  run INTEGER NOT NULL REFERENCES runs (k) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'answered', 'claimed', 'expired', 'cancelled')),
  requested_at INTEGER NOT NULL,
  deadline_at INTEGER,
  responded_at INTEGER,
  claimed_by TEXT,
  response TEXT,
  request TEXT NOT NULL
) STRICT;
CREATE INDEX interactions_by_thread ON interactions (thread, status);
CREATE INDEX interactions_by_run ON interactions (run);

CREATE TABLE browser_requests (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run INTEGER NOT NULL REFERENCES runs (k) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'claimed', 'answered', 'expired')),
  claimed_by TEXT,
  created_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  tool TEXT NOT NULL,
  params TEXT NOT NULL,
  response TEXT
) STRICT;
CREATE INDEX browser_requests_by_run ON browser_requests (run);
CREATE INDEX browser_requests_open ON browser_requests (k) WHERE status IN ('open', 'claimed');

-- Bytes: one blob a SHA-256, in rows of 256 KiB under the blob's key. sha256 is null until committed.
CREATE TABLE blobs (
  k INTEGER PRIMARY KEY,
  sha256 TEXT UNIQUE,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped IN (0, 1))
) STRICT;

-- k is the blob's key << 20 | index, so that a blob is read and dropped as one range.
CREATE TABLE blob_chunks (
  k INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

CREATE TRIGGER blob_takes_its_chunks BEFORE DELETE ON blobs BEGIN
  DELETE FROM blob_chunks WHERE k >= OLD.k << 20 AND k < (OLD.k + 1) << 20;
END;

CREATE TABLE attachments (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER REFERENCES threads (k) ON DELETE CASCADE,
  blob INTEGER REFERENCES blobs (k) ON DELETE NO ACTION,
  state TEXT NOT NULL CHECK (state IN ('uploading', 'stored', 'evicted')),
  kind TEXT NOT NULL CHECK (kind IN ('image', 'file', 'page_snapshot', 'screenshot', 'page_text')),
  mime TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT,
  trust TEXT NOT NULL CHECK (trust IN ('trusted', 'untrusted')),
  provenance TEXT NOT NULL CHECK (provenance IN ('user', 'page', 'mcp', 'tool', 'import', 'plugin')),
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  deleting INTEGER NOT NULL DEFAULT 0 CHECK (deleting IN (0, 1)),
  created_at INTEGER NOT NULL,
  source_ref TEXT,
  refs TEXT,
  meta TEXT
) STRICT;
CREATE INDEX attachments_by_thread ON attachments (thread, k);
CREATE INDEX attachments_by_blob ON attachments (blob);

CREATE TABLE pages (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER REFERENCES threads (k) ON DELETE SET NULL,
  url TEXT NOT NULL,
  site TEXT NOT NULL,
  title TEXT NOT NULL,
  captured_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  digest TEXT NOT NULL,
  cut TEXT,
  selection TEXT,
  text TEXT
) STRICT;
CREATE INDEX pages_by_time ON pages (captured_at DESC, id DESC);
CREATE INDEX pages_by_site ON pages (site, captured_at DESC);
CREATE INDEX pages_by_thread ON pages (thread);

CREATE TABLE page_parts (
  page INTEGER NOT NULL REFERENCES pages (k) ON DELETE CASCADE,
  idx INTEGER NOT NULL,
  attachment TEXT NOT NULL,
  PRIMARY KEY (page, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX page_parts_by_attachment ON page_parts (attachment);

CREATE TABLE skills (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  source_ref TEXT,
  plugin_id TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  raw TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plugins (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  version TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 0 CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  manifest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_assets (
  id TEXT PRIMARY KEY,
  plugin_id TEXT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (plugin_id, path)
) STRICT;

CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  path TEXT UNIQUE,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE folders (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL DEFAULT 1,
  updated_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE presets (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL DEFAULT 1,
  updated_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rules (
  id TEXT PRIMARY KEY,
  tool TEXT NOT NULL,
  origin TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('allow', 'ask', 'deny')),
  revision INTEGER NOT NULL DEFAULT 1,
  updated_at INTEGER NOT NULL,
  UNIQUE (tool, origin)
) STRICT, WITHOUT ROWID;

-- What a person allowed for one tool and origin in one thread; ends after 12 h of idleness.
CREATE TABLE session_grants (
  thread INTEGER NOT NULL REFERENCES threads (k) ON DELETE CASCADE,
  tool TEXT NOT NULL,
  origin TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  PRIMARY KEY (thread, tool, origin)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE connections (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  origin TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
  k INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
  deaths INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER,
  note TEXT,
  client_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  code TEXT,
  message TEXT,
  params TEXT NOT NULL,
  position TEXT,
  result TEXT
) STRICT;
CREATE INDEX jobs_open ON jobs (k) WHERE state IN ('queued', 'running');

CREATE TABLE session_repos (
  thread INTEGER PRIMARY KEY REFERENCES threads (k) ON DELETE CASCADE,
  committed_seq INTEGER NOT NULL DEFAULT 0,
  committed_revision INTEGER NOT NULL DEFAULT 0,
  turn_id TEXT,
  commit_id TEXT,
  updated_at INTEGER NOT NULL
) STRICT;

-- The index has row keys of its own, in order of indexing; search_rows says what each is.
CREATE VIRTUAL TABLE search USING fts5 (
  text, cjk, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
CREATE TABLE search_rows (
  k INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('node', 'page', 'title')),
  ref INTEGER NOT NULL,
  UNIQUE (kind, ref)
) STRICT;

INSERT INTO meta (key, value) VALUES
  ('schemaVersion', 1), ('minWriter', 1), ('nextThread', 1), ('indexedChange', 0);
