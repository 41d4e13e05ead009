"""A conversation that outgrows its model goes on: what is left out, and how the user learns of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from runner.conftest import Talk
from support.runners import shown
from support.scripted import ScriptedServer, chat, document
from support.steered import MODEL, Steered
from support.stores import Store, text

PAGE = {
    "kind": "page", "title": "Bees", "url": "https://bees.example/", "text": "Bees live in hives. " * 150,
    "trust": "untrusted", "provenance": "page",
}  # fmt: skip


def ask(talk: Talk, far: Steered, words: str, *, page: bool = False) -> list[tuple[str, str]]:
    """One whole turn; what the model was given."""
    turn_input: dict[str, Any] = {**text(words), **({"attachedContext": [PAGE]} if page else {})}
    ack = talk.host.ack("turn.submit", threadId=talk.thread, input=turn_input, overrides=far.overrides)
    call = far.call()
    call.say(f"Answer to {words}.")
    call.end()
    talk.host.event("turn.complete", runId=ack["runId"])
    return call.said


def test_old_page_texts_go_first_and_it_is_said_once(talk: Talk, far: Steered) -> None:
    """The oldest page gives way to the newest, its turn's words stay; the panel is told with each such answer, and one
    notice stands in the conversation, where no model reads it."""
    model = {"id": MODEL, "capabilities": {"toolUse": False, "maxContext": 2_000}}
    talk.host.ack("connection.save", connection={**far.connection, "models": [model]})
    assert "Bees live in hives. Bees" in ask(talk, far, "first", page=True)[0][1]
    said = ask(talk, far, "second", page=True)
    assert "Bees live in hives" not in said[0][1]
    assert "left out to make room" in said[0][1]
    assert "first" in said[0][1]
    assert "Bees live in hives. Bees" in said[2][1]
    assert ask(talk, far, "third")[0][1] == said[0][1]

    metas = [event["meta"] for event in talk.host.seen("item.start")]
    assert [meta.get("cut") for meta in metas] == [None, {"pageTexts": 1}, {"pageTexts": 1}]
    nodes: list[Any] = talk.snapshot()["nodes"]  # type: ignore[assignment]
    types = [node["type"] for node in nodes]
    assert types == [
        "user_message", "assistant_message", "user_message", "assistant_message", "system_notice",
        "user_message", "assistant_message",
    ]  # fmt: skip
    assert nodes[4]["payload"] == {
        "code": "context_cut",
        "text": "This conversation no longer fits the model: 1 page text of an older turn was left out.",
    }
    assert nodes[5]["parentId"] == nodes[4]["id"]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found


TOO_LONG = document({"error": {"message": "maximum context length exceeded", "code": "context_length_exceeded"}}, 400)


def test_an_endpoint_that_finds_it_too_long_is_given_less(running_store: Store, server: ScriptedServer) -> None:
    """Nobody said how large the model's window is: the endpoint does, and less is sent, until it fits or nothing is
    left that could be left out. What was said is never lost over it."""
    host = running_store.open()
    host.ack("settings.set", patch={"titles.model": False})
    connection = {"id": "far", "name": "Far", "kind": "openai", "baseUrl": server.url, "enabled": True}
    host.ack("connection.save", connection=connection)
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)

    def turn(words: str, page: bool = False) -> dict[str, Any]:
        turn_input = {**text(words), **({"attachedContext": [PAGE]} if page else {})}
        choice = {"model": {"connectionId": "far", "modelId": "m"}}
        run = host.ack("turn.submit", threadId=thread, input=turn_input, overrides=choice)["runId"]
        return host.event("turn.complete", runId=run)

    server.play(*chat("One."))
    server.play(*TOO_LONG)
    server.play(*chat("Two."))
    assert turn("first", page=True)["stopReason"] == "end"
    assert turn("second", page=True)["stopReason"] == "end"
    refused, taken = (request.body.decode() for request in server.requests[1:3])
    assert refused.count("Bees live in hives. Bees live") > taken.count("Bees live in hives. Bees live")
    assert "left out to make room" in taken
    assert "second" in taken
    assert [event["meta"].get("cut") for event in host.seen("item.start")] == [None, {"pageTexts": 1}]
    # A message that is too long by itself is refused in words, after a few tries.
    asked = len(server.requests)
    for _ in range(12):
        server.play(*TOO_LONG)
    end = turn("third")
    assert end["error"]["code"] == "provider_context_too_long"
    assert 1 < len(server.requests) - asked < 10
    kept = [words for _, words in shown(host.query("thread.subscribe", threadId=thread))]
    assert [words for words in kept if words in ("first", "One.", "second", "Two.", "third")] == [
        "first", "One.", "second", "Two.", "third",
    ]  # fmt: skip
