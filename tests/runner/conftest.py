"""What the tests of the runner share: stores, and a model at the far end of the network that the test steers."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.fixtures import running_store, store
from support.hostclient import HostClient
from support.steered import Call, Steered
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


TAB = {"windowId": 1, "tabId": 7, "url": "https://news.example/story", "title": "A story"}


class Desk(Talk):
    """A conversation with a model that may call tools."""

    def __init__(self, store: Store, far: Steered) -> None:
        super().__init__(store, far)
        self.host.ack("connection.save", connection=far.with_tools)

    def ask(self, words: str, policy: str = "untrusted", **members: Any) -> dict[str, Any]:
        overrides = {**self.far.overrides, "permissionPolicy": policy}
        return self.host.ack(
            "turn.submit", threadId=self.thread, input=text(words), overrides=overrides, browserContext=TAB, **members
        )

    def results(self) -> list[dict[str, Any]]:
        nodes = self.snapshot()["nodes"]
        return [node["payload"] for node in nodes if node["type"] == "tool_result"]  # type: ignore[attr-defined]

    def ended(self, ack: dict[str, Any]) -> str:
        return str(self.host.event("turn.complete", runId=ack["runId"])["stopReason"])


@pytest.fixture
def desk(running_store: Store, far: Steered) -> Desk:
    """See Desk."""
    return Desk(running_store, far)


def told(call: Call) -> list[str]:
    """The results of tools as a model call holds them, in order."""
    return [message["content"] for message in call.body["messages"] if message["role"] == "tool"]


def browser(host: HostClient, result: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Answer the next request to the browser."""
    request = host.event("browser.request", **members)
    host.ack("browser.response", requestId=request["requestId"], ok=True, result=result)
    return request
