"""One consistent view for several reads."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from sidekeep.store.connection import typed
from sidekeep.store.tx import Tx


@contextmanager
def reading(tx: Tx) -> Iterator[Tx]:
    """All reads inside see the store as it was at the first. Raises the product's errors."""
    try:
        tx.run("BEGIN")
        try:
            yield tx
        finally:
            tx.run("ROLLBACK")
    except apsw.Error as error:
        raise typed(error) from error
