"""What the tests of the runner share: stores, and a model at the far end of the network that the test steers."""

from collections.abc import Iterator

import pytest

from support.fixtures import running_store, store
from support.hostclient import HostClient
from support.steered import Steered
from support.stores import Store, text

__all__ = ["far", "running_store", "store"]


@pytest.fixture
def far() -> Iterator[Steered]:
    """An endpoint that answers what this test tells it to."""
    with Steered() as found:
        yield found


class Talk:
    """A thread whose turns go to the steered endpoint, followed on one port."""

    def __init__(self, store: Store, far: Steered) -> None:
        self.store = store
        self.far = far
        self.host: HostClient = store.open()
        self.host.ack("connection.save", connection=far.connection)
        self.thread = self.new_thread()

    def new_thread(self) -> str:
        thread: str = self.host.ack("thread.create")["threadId"]
        self.host.query("thread.subscribe", threadId=thread)
        return thread

    def submit(self, words: str, thread: str | None = None) -> dict[str, object]:
        return self.host.ack(
            "turn.submit", threadId=thread or self.thread, input=text(words), overrides=self.far.overrides
        )

    def snapshot(self, thread: str | None = None) -> dict[str, object]:
        found: dict[str, object] = self.host.query("thread.subscribe", threadId=thread or self.thread)
        return found


@pytest.fixture
def talk(running_store: Store, far: Steered) -> Talk:
    """A conversation with the steered endpoint."""
    return Talk(running_store, far)
