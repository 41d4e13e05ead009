-- name: columns
SELECT k, id, thread, turn_id, kind, state, client_id, submission_id, attempt, deaths, step, fence, move, user_node,
  last_node, recoverable, interrupt_requested, revision, created_at, updated_at, started_at, finished_at,
  stop_reason, error, usage, cost_usd, overrides, browser_context, input, partial, environment, environment_digest
FROM runs

-- name: insert
INSERT INTO runs (id, thread, turn_id, kind, state, client_id, submission_id, fence, user_node, last_node,
  created_at, updated_at, overrides, browser_context, input)
VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: one_open
SELECT 1 FROM runs WHERE thread = ? AND open LIMIT 1

-- name: one_unsettled
SELECT 1 FROM runs WHERE thread = ? AND (open OR recoverable) LIMIT 1
