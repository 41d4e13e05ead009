"""Reads beside the writer: each in a thread, on a connection of its own, as one consistent view."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sidekeep.model.clock import now_ms
from sidekeep.model.ids import new_id
from sidekeep.store.opener import Store
from sidekeep.store.reading import reading
from sidekeep.store.tx import Tx

READERS = 2


class Reader:
    """A few threads: a long conversation that is read does not hold up the look at what is new."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._own = threading.local()
        self.pool = ThreadPoolExecutor(READERS, thread_name_prefix="reader")

    def now(self, look: Callable[[Tx], Any]) -> Any:
        """In the calling thread."""
        db = getattr(self._own, "db", None)
        if db is None:
            db = self._own.db = self._store.reader()
        # A new one each time: what an earlier view knew of a thread is not this view's.
        with reading(Tx(db, now_ms(), new_id)) as tx:
            return look(tx)

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)
