"""What a person allowed for one tool on one origin in one thread, until the thread has been idle for 12 hours."""

from sidekeep.model.limits import SESSION_PERMISSION_IDLE_MS
from sidekeep.store.tx import Tx


def give(tx: Tx, thread: int, tool: str, origin: str) -> None:
    tx.run(
        "INSERT INTO session_grants (thread, tool, origin, granted_at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (thread, tool, origin) DO UPDATE SET granted_at = excluded.granted_at",
        (thread, tool, origin, tx.now),
    )


def given(tx: Tx, thread: int, tool: str, origin: str) -> bool:
    return (
        tx.one("SELECT 1 FROM session_grants WHERE thread = ? AND tool = ? AND origin = ?", (thread, tool, origin))
        is not None
    )


def end_after_idleness(tx: Tx, thread: int, user_node: int | None) -> None:
    """At the start of a turn: nothing is left of them when the message before this one is older than 12 hours."""
    if user_node is None or tx.one("SELECT 1 FROM session_grants WHERE thread = ? LIMIT 1", (thread,)) is None:
        return
    row = tx.one(
        "SELECT n.ts - above.ts FROM nodes n JOIN nodes above ON above.k = n.parent WHERE n.k = ?", (user_node,)
    )
    if row is None or row[0] > SESSION_PERMISSION_IDLE_MS:
        tx.run("DELETE FROM session_grants WHERE thread = ?", (thread,))
