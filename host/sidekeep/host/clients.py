"""The clients of this port: which threads each follows, and whether somebody looks."""


class Clients:
    """Subscriptions are per client; an event goes to the port once."""

    def __init__(self) -> None:
        self._threads: dict[str, set[str]] = {}
        self._visible: dict[str, bool] = {}
        # From which change on a thread's events are news: what came before is in the snapshot.
        self._since: dict[str, int] = {}

    def subscribe(self, client_id: str, thread_id: str, since: int) -> None:
        if not self.follows(thread_id):
            self._since[thread_id] = since
        self._threads.setdefault(client_id, set()).add(thread_id)
        self._visible.setdefault(client_id, True)

    def unsubscribe(self, client_id: str, thread_id: str) -> None:
        self._threads.get(client_id, set()).discard(thread_id)
        if not self.follows(thread_id):
            self._since.pop(thread_id, None)

    def meet(self, client_id: str) -> None:
        """It has asked something here: this port serves it."""
        self._threads.setdefault(client_id, set())

    def set_visible(self, client_id: str, visible: bool) -> None:
        self._visible[client_id] = visible
        self._threads.setdefault(client_id, set())

    def follows(self, thread_id: str) -> bool:
        return any(thread_id in threads for threads in self._threads.values())

    def is_news(self, thread_id: str, change: int) -> bool:
        """Does this port follow the thread, and is the change newer than its snapshot?"""
        return self.follows(thread_id) and change > self._since.get(thread_id, 0)

    def followed(self) -> set[str]:
        return set().union(*self._threads.values())

    def serves(self, client_id: str) -> bool:
        return client_id in self._threads

    def listing(self) -> list[dict[str, object]]:
        """As the presence file has it."""
        return [
            {"clientId": client_id, "threads": sorted(threads), "visible": self._visible.get(client_id, True)}
            for client_id, threads in sorted(self._threads.items())
        ]
