"""From rows of `changes` to events: who hears of each, and with which members.

A change's kind is its event's type and its detail the event's further members; the kinds named here need
something read from the store first, or go to the followers of a thread only.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from sidekeep.host.clients import Clients
from sidekeep.host.turns_live import Turn
from sidekeep.model.places import Places
from sidekeep.store import runs, snapshot, tree
from sidekeep.store.room import DiskWatch
from sidekeep.store.tx import Tx

Event = dict[str, Any]

BROADCAST = frozenset(
    ("thread.updated", "thread.deleted", "store.changed", "attachment.evicted", "storage.warning",
     "run.recovery_required", "job.progress", "job.done")
)  # fmt: skip
FOLLOWERS = frozenset(
    ("token.usage", "approval.request", "approval.resolved", "interaction.request", "interaction.resolved")
)
_BATCH = 500


class Change:
    """One row of `changes`."""

    __slots__ = ("detail", "id", "kind", "revision", "seq", "thread")

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.seq, self.kind, self.thread, self.id, self.revision = row[:5]
        self.detail: dict[str, Any] = msgspec.json.decode(row[5]) if row[5] else {}


class Feed:
    """Reads what changed since it last looked and turns it into events for this port."""

    def __init__(self, places: Places, clients: Clients, start: int) -> None:
        self._places = places
        self._clients = clients
        self.cursor = start
        self.turns: dict[str, Turn] = {}
        self._disk = DiskWatch(places)
        # Set when a change may have begun or ended work of the runner.
        self.work_changed = True
        # Set when a tool wants something of the browser.
        self.browser_wanted = False

    def events(self, tx: Tx) -> Iterator[Event]:
        """Everything that is new in the store; call `live_events` afterwards."""
        while True:
            rows = tx.all(
                "SELECT seq, kind, thread, id, revision, detail FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
                (self.cursor, _BATCH),
            )
            if rows and rows[0][0] > self.cursor + 1 and self.cursor:
                yield from self._read_anew(tx)
            for row in rows:
                self.cursor = row[0]
                yield from self._of(tx, Change(row))
            if len(rows) < _BATCH:
                return

    def _read_anew(self, tx: Tx) -> Iterator[Event]:
        """We fell behind what is kept: followers get their snapshot again."""
        for thread_id in self._clients.followed():
            row = tx.thread(thread_id)
            if row is not None:
                yield {"type": "thread.snapshot", "threadId": thread_id, **self.snapshot_of(tx, thread_id)}

    def live_events(self) -> Iterator[Event]:
        """What running answers have said since."""
        for turn in self.turns.values():
            yield from turn.events()
        full = self._disk.look() if self.turns else None
        if full is not None:
            yield full

    def _of(self, tx: Tx, change: Change) -> Iterator[Event]:
        kind, thread_id = change.kind, change.thread
        if kind.startswith(("run.", "turn.", "queue.", "job.")):
            self.work_changed = True
        if kind == "browser.request":
            self.browser_wanted = True
            return
        turn = self.turns.get(thread_id or "")
        if turn is not None:
            # What was said before a commit is in the file before it: it is told first.
            yield from turn.events()
        if kind in BROADCAST:
            yield self._plain(change)
        elif kind == "thread.created":
            row = tx.thread(thread_id)
            if row is not None and row.deleted_at is None:
                yield {"type": kind, "thread": row.meta()}
        elif thread_id is not None and self._clients.is_news(thread_id, change.seq):
            yield from self._for_followers(tx, change)
        if kind in ("thread.deleted", "run.recovery_required") and thread_id in self.turns:
            self.turns.pop(thread_id).close()

    def _plain(self, change: Change) -> Event:
        event: Event = {"type": change.kind}
        if change.thread is not None:
            event["threadId"] = change.thread
        if change.revision is not None:
            event["revision"] = change.revision
        elif change.kind == "store.changed":
            # Settings, secrets and what is gone have none of their own: the place among all changes rises as well.
            event["revision"] = change.seq
        event.update(change.detail)
        return event

    def _for_followers(self, tx: Tx, change: Change) -> Iterator[Event]:
        kind, thread_id = change.kind, change.thread
        row = tx.thread(thread_id)
        if row is None:
            return
        if kind in FOLLOWERS:
            yield self._plain(change)
        elif kind == "thread.node":
            node = tx.one(tree.sql.node_by_id, (change.id,))
            if node is not None:
                yield {"type": kind, "threadId": thread_id, "node": snapshot.node_event(tx, row, tree.Node(*node))}
        elif kind == "queue.updated":
            waiting = [run for run in runs.open_of_thread(tx, row.k) if run.state == "queued" and run.user_node is None]
            yield {"type": kind, "threadId": thread_id, "queue": [runs.queue_entry(run) for run in waiting]}
        elif kind == "turn.start":
            self._follow(thread_id, change.detail)
            members = {key: value for key, value in change.detail.items() if key != "attempt"}
            yield {"type": kind, "threadId": thread_id, **members}
        elif kind == "turn.complete":
            yield from self._complete(thread_id, change)
        elif kind == "item.complete":
            turn = self.turns.get(thread_id)
            if turn is not None and turn.run_id == change.id:
                yield from turn.completions(change.detail["items"])
        elif kind == "run.settled":
            yield {"type": "thread.snapshot", "threadId": thread_id, **self.snapshot_of(tx, thread_id)}

    def _follow(self, thread_id: str, detail: dict[str, Any]) -> Turn:
        before = self.turns.pop(thread_id, None)
        if before is not None:
            before.close()
        turn = Turn(self._places, thread_id, detail["turnId"], detail["runId"], detail["attempt"])
        self.turns[thread_id] = turn
        return turn

    def _complete(self, thread_id: str, change: Change) -> Iterator[Event]:
        """First all that the live file still holds, then the items that the commit names, then the end."""
        turn = self.turns.get(thread_id)
        if turn is not None and turn.run_id == change.detail.get("runId"):
            yield from turn.events()
            yield from turn.completions(change.detail.get("items", []))
            turn.close()
            del self.turns[thread_id]
        members = {key: value for key, value in change.detail.items() if key != "items"}
        yield {"type": change.kind, "threadId": thread_id, **members}

    def snapshot_of(self, tx: Tx, thread_id: str, *, strict: bool = False) -> dict[str, Any]:
        """ThreadSnapshot of a live thread, with the items of its running answer.

        Raises NotFound, and BrokenPath when `strict` and the disk damaged it.
        """
        from sidekeep.store import threads

        row = threads.live(tx, thread_id)
        shown = snapshot.snapshot(tx, row, strict=strict)
        active = shown["activeTurn"]
        turn = self.turns.get(thread_id)
        if active is None or active["state"] == "queued":
            return shown
        run = runs.get(tx, active["runId"])
        if turn is None or (turn.run_id, turn.attempt) != (run.id, run.attempt):
            turn = self._follow(thread_id, {"turnId": run.turn_id, "runId": run.id, "attempt": run.attempt})
            turn.catch_up()
        active["items"] = snapshot.unwritten(tx, turn.items())
        return shown

    def drop_unfollowed(self) -> None:
        for thread_id in [thread_id for thread_id in self.turns if not self._clients.follows(thread_id)]:
            self.turns.pop(thread_id).close()
