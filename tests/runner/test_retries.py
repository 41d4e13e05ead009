"""Endpoints that are out of breath, through host, vault and runner: waited for, shown, stopped, given another key."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from support.hostclient import HostClient
from support.runners import shown
from support.scripted import DONE, HANG, ScriptedServer, chat, delta, document, stop, stream, usage
from support.stores import Store, text

MODEL = "scripted-1"
CHOICE = {"model": {"connectionId": "far", "modelId": MODEL}}


class Asked:
    """A thread whose turns go to a scripted endpoint."""

    def __init__(self, store: Store, server: ScriptedServer, *keys: str) -> None:
        self.host: HostClient = store.open()
        for number, key in enumerate(keys):
            self.host.ack("secret.set", name=f"key-{number}", value=key)
        # Titles are another test's: each would be a further request.
        self.host.ack("settings.set", patch={"titles.model": False})
        connection: dict[str, Any] = {
            "id": "far", "name": "Far", "kind": "openai", "baseUrl": server.url, "enabled": True,
            "secretRefs": [f"key-{number}" for number in range(len(keys))],
        }  # fmt: skip
        self.host.ack("connection.save", connection=connection)
        self.thread: str = self.host.ack("thread.create")["threadId"]
        self.host.query("thread.subscribe", threadId=self.thread)

    def submit(self, words: str = "Tell") -> str:
        run: str = self.host.ack("turn.submit", threadId=self.thread, input=text(words), overrides=CHOICE)["runId"]
        return run

    def waits(self) -> dict[str, Any]:
        """What the panel is told while the endpoint is waited for."""
        found = self.host.event("item.delta", where=lambda e: "toolProgress" in e["delta"])
        told: dict[str, Any] = found["delta"]["toolProgress"]
        return told

    def end(self, run: str) -> dict[str, Any]:
        return self.host.event("turn.complete", runId=run)

    def shown(self) -> list[tuple[str, str]]:
        return shown(self.host.query("thread.subscribe", threadId=self.thread))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found


def refused(status: int, words: str = "slow down", **headers: str) -> list[Any]:
    return document({"error": {"message": words}}, status, headers)


@pytest.mark.parametrize(
    ("status", "code"), [(429, "provider_rate_limit"), (529, "provider_overloaded"), (503, "provider_overloaded")]
)
def test_it_is_waited_for_and_said(running_store: Store, server: ScriptedServer, status: int, code: str) -> None:
    """The same call again after the time that the endpoint asked for; meanwhile the panel can say until when."""
    asked = Asked(running_store, server)
    server.play(*refused(status, **{"retry-after-ms": "300"}))
    server.play(*chat("Here."))
    begun = time.monotonic()
    run = asked.submit()
    told = asked.waits()
    assert (told["note"], told["done"], told["total"], told["code"]) == ("retrying", 1, 6, code)
    assert "slow down" in told["message"]
    assert 0 < told["until"] - time.time() * 1000 < 1000
    assert asked.end(run)["stopReason"] == "end"
    assert time.monotonic() - begun >= 0.3
    assert server.requests[0].json == server.requests[1].json
    assert asked.shown() == [("user", "Tell"), ("assistant", "Here.")]
    assert len(asked.host.seen("item.start")) == 1


def test_a_long_wait_is_told_instead(running_store: Store, server: ScriptedServer) -> None:
    asked = Asked(running_store, server)
    server.play(*refused(429, "come back tomorrow", **{"retry-after": "86400"}))
    end = asked.end(asked.submit())
    assert (end["stopReason"], end["error"]["code"]) == ("error", "provider_rate_limit")
    assert "come back tomorrow" in end["error"]["message"]
    assert len(server.requests) == 1


def test_what_was_said_is_not_said_twice(running_store: Store, server: ScriptedServer) -> None:
    """A fault after the first word keeps the words and ends the turn; the call is not made again."""
    asked = Asked(running_store, server)
    server.play(*stream(delta("Once upon"), {"error": {"message": "overloaded", "type": "overloaded_error"}}))
    end = asked.end(asked.submit())
    assert (end["stopReason"], end["error"]["code"]) == ("error", "provider_overloaded")
    assert asked.shown() == [("user", "Tell"), ("assistant", "Once upon")]
    assert len(server.requests) == 1


@pytest.mark.parametrize("where", ["back-off", "headers", "stalled"])
def test_a_stop_is_done_at_once_wherever_it_waits(running_store: Store, server: ScriptedServer, where: str) -> None:
    """Between two attempts, before the endpoint has answered at all, and in a stream that says nothing more."""
    asked = Asked(running_store, server)
    if where == "back-off":
        server.play(*refused(429, **{"retry-after": "30"}))
    elif where == "headers":
        server.play(HANG)
    else:
        server.play(*stream(delta("Once"), end=False), HANG)
    run = asked.submit()
    request = server.request(0)
    if where == "back-off":
        asked.waits()
    elif where == "stalled":
        asked.host.event("item.delta")
    begun = time.monotonic()
    asked.host.ack("turn.interrupt", threadId=asked.thread)
    end = asked.end(run)
    assert time.monotonic() - begun < 0.2
    assert end["stopReason"] == "interrupted"
    if where != "back-off":
        assert request.gone.wait(2)
    assert asked.shown() == [("user", "Tell"), *([("assistant", "Once")] if where == "stalled" else [])]
    assert asked.host.query("thread.subscribe", threadId=asked.thread)["thread"]["status"] == "idle"


def test_the_key_that_serves_stays(running_store: Store, server: ScriptedServer) -> None:
    """A refused key gives way within the call; the next turn begins with the one that served; nothing is shown."""
    asked = Asked(running_store, server, "sk-spent-0001", "sk-fresh-0002")
    server.play(*refused(429))
    server.play(*stream(delta("One."), stop(), usage(), DONE))
    server.play(*chat("Two."))
    assert asked.end(asked.submit("1"))["stopReason"] == "end"
    assert asked.end(asked.submit("2"))["stopReason"] == "end"
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer sk-spent-0001", "Bearer sk-fresh-0002", "Bearer sk-fresh-0002"]
    assert asked.shown() == [("user", "1"), ("assistant", "One."), ("user", "2"), ("assistant", "Two.")]
    assert not [event for event in asked.host.seen("item.delta") if "toolProgress" in event["delta"]]
