"""One consistent look into a store for a command that only reads; a store that is not there is not made."""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sidekeep.cli import processes
from sidekeep.model.clock import now_ms
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.store import run_queue, threads
from sidekeep.store.opener import open_store
from sidekeep.store.reading import reading
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx

_BEGINNING = re.compile(r"[0-9a-f-]{4,36}")


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


def the_thread(tx: Tx, text: str) -> ThreadRow:
    """The conversation of an id, or of as much of its beginning as tells it. Raises InvalidCommand, NotFound."""
    beginning = text.strip().lower()
    if not _BEGINNING.fullmatch(beginning):
        raise InvalidCommand("A conversation is named by its id or the first four or more characters of it.")
    found = threads.ids_that_begin(tx, beginning, 2)
    if len(found) > 1:
        raise InvalidCommand(f"More than one conversation begins with {beginning}; give more of the id.")
    return threads.live(tx, found[0] if found else beginning)


def left_behind(tx: Tx, where: Places) -> dict[str, str]:
    """Run → thread of the answers that nobody writes any more, although the store does not know it yet.

    The next runner will mark them. While a host lives it starts one at once, so that there is nothing to add.
    """
    if processes.runner(where) is not None or processes.hosts(where):
        return {}
    return {run.id: run.thread_id for run in run_queue.open_runs(tx) if run.state == "streaming_model"}
