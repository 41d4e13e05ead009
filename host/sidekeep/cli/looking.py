"""One consistent look into a store for a command that only reads; a store that is not there is not made."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sidekeep.cli import processes
from sidekeep.model.clock import now_ms
from sidekeep.model.errors import NotFound
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.store import run_queue
from sidekeep.store.opener import open_store
from sidekeep.store.reading import reading
from sidekeep.store.tx import Tx


def exists(where: Places) -> bool:
    """Whether there is a store at all."""
    return os.path.exists(where.database)


@contextmanager
def looking(where: Places) -> Iterator[Tx]:
    """The store as it was at the first read inside. Raises NotFound where there is none."""
    if not exists(where):
        raise NotFound(f"There is no store in {where.state} yet: it is made when the side panel is first opened.")
    with closing(open_store(where)) as store, reading(Tx(store.reader(), now_ms(), new_id)) as tx:
        yield tx


def left_behind(tx: Tx, where: Places) -> dict[str, str]:
    """Run → thread of the answers that nobody writes any more, although the store does not know it yet.

    The next runner will mark them. While a host lives it starts one at once, so that there is nothing to add.
    """
    if processes.runner(where) is not None or processes.hosts(where):
        return {}
    return {run.id: run.thread_id for run in run_queue.open_runs(tx) if run.state == "streaming_model"}
