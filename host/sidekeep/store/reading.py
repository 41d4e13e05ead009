"""One consistent view for several reads."""

from types import TracebackType

import apsw

from sidekeep.store.connection import typed
from sidekeep.store.tx import Tx


class reading:
    """All reads inside see the store as it was at the first. Raises the product's errors.

    A class and not a generator: `contextlib` would be the only thing that a host's start imports for it.
    """

    __slots__ = ("_tx",)

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def __enter__(self) -> Tx:
        try:
            self._tx.run("BEGIN")
        except apsw.Error as error:
            raise typed(error) from error
        return self._tx

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        try:
            self._tx.run("ROLLBACK")
        except apsw.Error as fault:
            error = error or fault
        if isinstance(error, apsw.Error):
            raise typed(error) from error
