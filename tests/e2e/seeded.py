"""Conversations that are there before the browser is: put into the store through a host of their own."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.hostclient import HostClient

IN_FLIGHT = 24


@contextmanager
def host(state: Path) -> Iterator[HostClient]:
    """A host on this state folder, its store open."""
    with HostClient(state) as client:
        client.initialize()
        client.ready()
        yield client


def quick_answers(client: HostClient) -> None:
    """Extracts answer: at once, and the same each time."""
    model = {"connectionId": "extract", "modelId": "extract"}
    client.ack("settings.set", patch={"models.default": model})


def said(kind: str, text: str) -> dict[str, object]:
    """The members of a `node.append` that says this."""
    content: dict[str, object] = {"content": [{"type": "text", "text": text}]}
    if kind == "assistant_message":
        content |= {"model": "extract", "connectionId": "extract", "stopReason": "end"}
    return {"nodeType": kind, "payload": content}


def conversation(client: HostClient, title: str, messages: int) -> str:
    """A thread of questions and answers in turn, numbered from 1; its id."""
    thread_id = str(uuid.uuid4())
    client.ack("thread.create", threadId=thread_id, title=title)
    waiting: list[str] = []
    for number in range(1, messages + 1):
        kind, word = ("user_message", "Question") if number % 2 else ("assistant_message", "Answer")
        text = f"{word} {number}. " + "It goes on for a line or two. " * (number % 5)
        waiting.append(client.send("node.append", threadId=thread_id, **said(kind, text)))
        if len(waiting) == IN_FLIGHT:
            client.answer(waiting.pop(0))
    for submission in waiting:
        assert client.answer(submission)["type"] == "command.ack"
    return thread_id
