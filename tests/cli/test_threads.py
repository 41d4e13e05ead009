"""`sidekeep threads`: the list that the panel has, also when nobody is there to write."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from support.stores import Store, text


def test_lists_the_newest_first(store: Store, sidekeep: Callable) -> None:
    """The same rows in the same order as `thread.list`, archived ones apart, the trash not at all."""
    host = store.open()
    threads = [host.ack("thread.create", title=f"No. {number}")["threadId"] for number in range(5)]
    host.ack("node.append", threadId=threads[1], nodeType="user_message", payload=text("again"))
    host.ack("thread.update", threadId=threads[2], patch={"archived": True})
    host.ack("thread.delete", threadId=threads[3])

    listed = host.query("thread.list", limit=50)["threads"]
    found = sidekeep("threads", "--json").document
    assert [thread["id"] for thread in found["threads"]] == [threads[1], threads[4], threads[0]]
    assert found == {"threads": listed, "cursor": None}
    put_aside = sidekeep("threads", "--archived", "--json").document["threads"]
    assert [thread["id"] for thread in put_aside] == [threads[2]]
    lines = sidekeep("threads").out.splitlines()
    assert [line.split()[0] for line in lines] == [threads[1], threads[4], threads[0]]


def test_a_limit_says_that_there_is_more(store: Store, sidekeep: Callable) -> None:
    """`--limit` cuts, the cursor tells it to scripts and a line to people; below 1 is wrong usage."""
    host = store.open()
    for _ in range(3):
        host.ack("thread.create")
    found = sidekeep("threads", "--limit", "2", "--json").document
    assert (len(found["threads"]), found["cursor"] is None) == (2, False)
    assert "More are kept" in sidekeep("threads", "--limit", "2").out
    assert sidekeep("threads", "--limit", "3", "--json").document["cursor"] is None
    refused = sidekeep("threads", "--limit", "0", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "usage")


def test_without_a_store_the_list_is_empty_and_none_is_made(tmp_path: Path, sidekeep: Callable) -> None:
    assert sidekeep("threads", "--json").document == {"threads": [], "cursor": None}
    assert not (tmp_path / "state").exists()


def test_a_title_cannot_command_the_terminal(store: Store, sidekeep: Callable) -> None:
    """A page's or a model's words are printed, never obeyed: no control characters, no turned direction."""
    host = store.open()
    host.ack("thread.create", title="\x1b]0;owned\x07 \x9b31m a\u202eb \r\n end")
    out = sidekeep("threads").out
    assert not set(out) & set("\x1b\x07\x9b\u202e\r")
    assert len(out.splitlines()) == 1
    assert "owned" in out


def test_an_answer_that_nobody_writes_any_more_is_interrupted(running_store: Store, sidekeep: Callable) -> None:
    """Runner and host dead: the row still says running, and a reader must not (E39)."""
    host = running_store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    submitted = host.ack("turn.submit", threadId=thread, input=text("Tell me a long story about the sea."))
    host.event("item.delta", threadId=thread, where=lambda event: "text" in event["delta"], timeout=120)
    assert sidekeep("threads", "--json").document["threads"][0]["status"] == "running"

    # The host first: a living one would have a new runner mark the run within milliseconds.
    runner = running_store.runner_pid()
    assert runner is not None
    os.kill(runner, signal.SIGSTOP)
    host.kill()
    os.kill(runner, signal.SIGKILL)
    running_store.wait_until_no_runner()

    assert sidekeep("threads", "--json").document["threads"][0]["status"] == "interrupted"
    assert "[interrupted]" in sidekeep("threads").out
    shown = sidekeep("show", thread, "--json").document
    assert shown["activeTurn"] is None
    assert shown["thread"]["status"] == "interrupted"
    (left,) = shown["recoverable"]
    assert (left["runId"], left["state"]) == (submitted["runId"], "interrupted")
    assert left["partialText"]
    assert left["partialText"] in sidekeep("show", thread).out
