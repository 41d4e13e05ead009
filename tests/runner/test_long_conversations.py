"""A conversation that outgrows its model goes on: what is left out, and how the user learns of it."""

from typing import Any

from runner.conftest import Talk
from support.steered import MODEL, Steered
from support.stores import text

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
