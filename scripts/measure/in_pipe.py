"""P3, P5, P6: the host in a pipe, without a browser."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from measure.filled import opened, thread_of
from measure.pipe import PipeHost, append
from measure.rounds import Figure, at_least, at_most, in_turns
from sidekeep.model.ids import new_id

APPENDS = 4000
WINDOW = 200


def p3(folder: Path, rounds: int) -> list[Figure]:
    """32 commands in flight against one after another."""
    with _host(folder / "p3") as host:
        thread = host.ask({"type": "thread.create"})["threadId"]
        found = in_turns(
            {
                "one": lambda: host.rate([append(thread) for _ in range(APPENDS // 4)], 1),
                "many": lambda: host.rate([append(thread) for _ in range(APPENDS)], 32),
            },
            rounds,
        )
    return [at_least("P3", "appends, 32 in flight", "/s", found["many"], found["one"], "one by one", 6)]


def p5(folder: Path, rounds: int) -> list[Figure]:
    """The first snapshot of a long thread against a short one, and against reading its rows."""
    state = folder / "p5"
    store, doorway = opened(state)
    long, short = thread_of(doorway, 10_000, 2000), thread_of(doorway, 250, 50)
    database = store.places.database
    store.close()
    with _host(state) as host, contextlib.closing(apsw.Connection(database)) as raw:

        def snapshot(thread: str) -> float:
            submission = new_id()
            started = time.perf_counter()
            host.send({"type": "thread.subscribe", "submissionId": submission, "threadId": thread})
            host.answered(submission)
            spent = time.perf_counter() - started
            host.ask({"type": "thread.unsubscribe", "threadId": thread})
            return spent * 1000

        def rows() -> float:
            started = time.perf_counter()
            (leaf,) = raw.execute("SELECT leaf FROM threads WHERE id = ?", (long,)).fetchone()
            path = raw.execute(_PATH, (leaf, WINDOW)).fetchall()
            assert len(path) == WINDOW
            return (time.perf_counter() - started) * 1000

        measures = {"long": lambda: snapshot(long), "short": lambda: snapshot(short), "rows": rows}
        in_turns(measures, 3)
        found = in_turns(measures, 4 * rounds)
    return [
        at_most("P5", "snapshot of 10,000 nodes", "ms", found["long"], found["short"], "of a path of 200", 1.2),
        at_most("P5", "snapshot of 10,000 nodes", "ms", found["long"], found["rows"], "raw read of its rows", 6),
    ]


def p6(folder: Path, rounds: int) -> list[Figure]:
    """Appending to and asking in a long thread with many forks against a thread of ten nodes."""
    state = folder / "p6"
    store, doorway = opened(state)
    long = thread_of(doorway, 10_000, 2000)
    store.close()
    with _host(state) as host:
        short = host.ask({"type": "thread.create"})["threadId"]
        host.rate([append(short) for _ in range(10)], 1)

        def appends(thread: str) -> float:
            return 1e6 / host.rate([append(thread) for _ in range(300)], 1)

        measures = {"long": lambda: appends(long), "short": lambda: appends(short)}
        in_turns(measures, 1)
        added = in_turns(measures, 2 * rounds)
        host.ask({"type": "settings.set", "patch": {"models.default": _EXTRACT}})

        def asked(thread: str) -> float:
            message = _submit(thread)
            started = time.perf_counter()
            host.ask(message)
            spent = time.perf_counter() - started
            # The next one is to be admitted at once again, not queued.
            host.until("thread.updated", lambda e: e["threadId"] == thread and e["patch"].get("status") == "done")
            return spent * 1e6

        measures = {"long": lambda: asked(long), "short": lambda: asked(short)}
        in_turns(measures, 2)
        asking = in_turns(measures, 4 * rounds)
    return [
        at_most("P6", "append to 10,000 nodes", "µs", added["long"], added["short"], "to 10", 1.2),
        at_most("P6", "ask in 10,000 nodes", "µs", asking["long"], asking["short"], "in 10", 1.2),
    ]


_EXTRACT = {"connectionId": "extract", "modelId": "extract"}
_PATH = """
WITH RECURSIVE up (k, parent, id, type, deleted, evicted, ts, payload) AS (
  SELECT k, parent, id, type, deleted, evicted, ts, payload FROM nodes WHERE k = ?1
  UNION ALL
  SELECT n.k, n.parent, n.id, n.type, n.deleted, n.evicted, n.ts, n.payload FROM up JOIN nodes n ON n.k = up.parent
  LIMIT ?2
)
SELECT * FROM up
"""


def _submit(thread: str) -> dict[str, object]:
    content = [{"type": "text", "text": "What does this say?"}]
    return {"type": "turn.submit", "submissionId": new_id(), "threadId": thread, "input": {"content": content}}


@contextlib.contextmanager
def _host(state: Path) -> Iterator[PipeHost]:
    with PipeHost(state) as host:
        host.open()
        # A search has the index caught up; the log is given its full size while nobody waits.
        host.ask({"type": "thread.search", "query": "message"})
        time.sleep(1)
        yield host
