"""Every bound of the product, by name; sizes in bytes, times in milliseconds unless said."""

KIB = 1024
MIB = 1024 * KIB
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

# --- the port ---
EVENT_BYTES = 1_048_576  # host to browser, one frame: Chrome closes the port above
MESSAGE_BYTES = 8 * MIB  # browser to host, one frame
NAME_CHARACTERS = 200  # of a client, a model, a folder
JSON_DEPTH = 256  # nesting of one message
SAFE_INTEGER = 2**53 - 1  # numbers beyond become strings on entry
WAITING_OPS = 32  # ops that may wait for one thread
DELTA_MERGE_MS = 16
BUSY_NOTICE_MS = 1 * SECOND
BROWSER_REQUEST_MS = 30 * SECOND  # until a browser tool fails for want of a browser
BROWSER_ANSWER_MS = 60 * SECOND  # that a browser may take once it was asked

# --- commands and the writer ---
RECEIPT_MS = 7 * DAY
GROUP_COMMANDS = 64
GROUP_BYTES = 4 * MIB
WAL_KEPT_BYTES = 16 * MIB
WAL_CHECKPOINT_BYTES = 64 * MIB
CHANGES_MS = 24 * HOUR

# --- threads ---
SNAPSHOT_NODES = 200
LIST_DEFAULT = 50
LIST_MAX = 500
TITLE_CHARACTERS = 10_000
TITLE_FIRST_LINE = 50  # of the first message, until a model names the thread
TITLE_REPLIES = (1, 6, 16, 40)  # a model names the thread after these
PREVIEW_CHARACTERS = 80
TAGS = 100
TAG_CHARACTERS = 200
SEARCH_DEFAULT = 20
SEARCH_MAX = 200

# --- turns ---
QUEUE = 8  # turns that may wait for one thread
APPROVAL_MS = 5 * MINUTE
SESSION_PERMISSION_IDLE_MS = 12 * HOUR
RUN_DEATHS = 3  # active in so many successive deaths: failed
TOOL_FAULTS_HINT = 3
TOOL_FAULTS_STOP = 5
TURN_STEPS = 100  # model calls of a turn; then it answers without tools
WAIT_LONGEST_MS = 24 * HOUR  # that a run waits for a time
ARTIFACT_BYTES = 1 * MIB
PAGE_TEXT_CHARACTERS = 200_000
PAGE_TEXT_SLICE = 8_000

# --- a run's environment ---
SNAPSHOT_BYTES = 2 * MIB
SNAPSHOT_DEPTH = 64
SNAPSHOT_SKILLS = 128
SNAPSHOT_TOOLS = 256
SKILL_BODY_BYTES = 256 * KIB
SKILL_BODIES_BYTES = 1 * MIB
TOOL_SCHEMA_BYTES = 128 * KIB
SYSTEM_PROMPT_BYTES = 256 * KIB

# --- attachments and pages ---
UPLOAD_BYTES = 64 * MIB
CHUNK_BYTES = 256 * KIB
READ_BYTES = 512 * KIB
ATTACHMENTS_QUOTA_BYTES = 200 * MIB
STORAGE_WARNING_PCT = 80
UNFINISHED_UPLOAD_MS = 1 * DAY
USED_NOTE_MS = 1 * MINUTE  # a read's time is written at the latest after

# --- processes ---
RUNNER_IDLE_MS = 60 * SECOND
RUNNER_STARTS_A_MINUTE = 5
RUNNER_LOCK_TRIES = 50
RUNNER_LOCK_TRY_MS = 4
LIVE_FILE_KEPT_MS = 10 * SECOND
LIVE_FLUSH_MS = 1 * SECOND

# --- sessions ---
SESSION_COMMIT_MS = 30 * SECOND  # after the last change without a turn
SESSION_INDEX_MS = 5 * SECOND
RECOVERY_TURNS = 100

# --- skills and plugins ---
SKILL_NAME_CHARACTERS = 64
SKILL_DESCRIPTION_CHARACTERS = 500
PLUGIN_PACKED_BYTES = 10 * 1000 * 1000
PLUGIN_BYTES = 50 * 1000 * 1000
PLUGIN_FILES = 1_000

# --- providers ---
VERIFY_MODELS_MS = 4 * SECOND
