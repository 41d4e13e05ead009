"""What tools want of the browser, for the clients of this port: claimed, then asked, once each.

A claim of a host that has died is open again: the next port of the same client takes it over.
"""

import os
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from sidekeep.host.clients import Clients
from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.store import browser_requests, locks
from sidekeep.store.doorway import Doorway
from sidekeep.store.tx import Tx

#: Until a request that another host has is looked at again: that host may be dying.
AGAIN_SECONDS = 0.5


class BrowserDesk:
    """`due` is when to look again although nothing changed; None while nothing waits elsewhere."""

    def __init__(
        self, doorway: Doorway, read: Callable[[], Tx], clients: Clients, places: Places, instance_id: str
    ) -> None:
        self._doorway = doorway
        self._read = read
        self._clients = clients
        self._folder = places.hosts
        self._instance_id = instance_id
        self._met: set[str] = set()
        self._news = True
        self.due: float | None = None

    def meet(self, client_id: str) -> None:
        """This port serves the client: what its runs want of the browser is asked here."""
        if client_id not in self._met:
            self._met.add(client_id)
            self._clients.meet(client_id)
            self._news = True

    def heard(self) -> None:
        """A request was made."""
        self._news = True

    def events(self) -> Iterator[dict[str, Any]]:
        """The requests that are claimed now, as events."""
        if not self._news and (self.due is None or self.due > monotonic()):
            return
        self._news, self.due = False, None
        for request in browser_requests.waiting(self._read(), sorted(self._met)):
            if request.claimed_by == self._instance_id:
                continue
            try:
                event = self._doorway.run(self._claiming(request.id))
            except SidekeepError:
                event = None  # the disk is full, or something like it: tried again until the request's deadline
            if event is not None:
                yield event
            else:
                self.due = monotonic() + AGAIN_SECONDS

    def _claiming(self, request_id: str) -> Callable[[Tx], dict[str, Any] | None]:
        return lambda tx: browser_requests.claim(tx, request_id, self._instance_id, self._lives)

    def _lives(self, instance_id: str) -> bool:
        return bool(instance_id) and locks.is_held(os.path.join(self._folder, instance_id))
