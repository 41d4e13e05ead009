"""What there is to do: the open runs of all threads, and which of them may start."""

from collections.abc import Container, Iterable
from typing import NamedTuple

from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)

#: States in which a run waits for a runner: never started, resumed or begun again, or left by an older runner.
STARTS_FROM = frozenset(("queued", "preparing", "handed_over", "waiting_approval", "waiting_interaction"))


class Waiting(NamedTuple):
    """An open run, without its large columns. `held` says that its thread lives and its fence stands, `rests` that it
    waits for the user and nothing will happen by itself."""

    k: int
    id: str
    thread_id: str
    thread: int
    state: str
    attempt: int
    interrupt_requested: int
    held: int
    thread_recoverable: int
    rests: int


def open_runs(tx: Tx) -> list[Waiting]:
    """All runs that have not ended, oldest first."""
    return [Waiting._make(row) for row in tx.all(sql.open)]


def startable(runs: Iterable[Waiting], active: Container[str]) -> list[Waiting]:
    """Which runs may start now: of each thread at most one, the begun one before the queue.

    `active` holds the ids of the runs that are being executed. A thread's queue waits while another run of the
    thread is open, and while it has one that can be resumed.
    """
    first: dict[int, Waiting] = {}
    for run in runs:
        standing = first.get(run.thread)
        if standing is None or (standing.state == "queued" and run.state != "queued"):
            first[run.thread] = run
    return [
        run
        for run in first.values()
        if run.id not in active and run.state in STARTS_FROM and not (run.state == "queued" and run.thread_recoverable)
    ]
