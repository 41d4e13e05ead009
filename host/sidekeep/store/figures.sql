-- name: counts
SELECT
  (SELECT count(*) FROM threads WHERE deleted_at IS NULL),
  (SELECT count(*) FROM threads WHERE deleted_at IS NULL AND archived = 1),
  (SELECT count(*) FROM threads WHERE deleted_at IS NOT NULL),
  (SELECT count(*) FROM nodes),
  (SELECT count(*) FROM attachments WHERE state = 'stored'),
  (SELECT count(*) FROM pages),
  (SELECT count(*) FROM runs WHERE open AND state = 'queued'),
  (SELECT count(*) FROM runs WHERE open AND state <> 'queued'),
  (SELECT count(*) FROM command_receipts)

-- name: schema_version
SELECT value FROM meta WHERE key = 'schemaVersion'
