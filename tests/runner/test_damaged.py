"""A turn in a conversation with rows that the disk damaged: the model is given the rest, and the turn is answered."""

import pytest

from runner.conftest import Talk
from support.damage import behind_its_back
from support.stores import said, text

DAMAGED = [b"{", b"", b"[]", b"{}", b"null", b'{"content":7}', b'{"content":[{"type":"text","text":"\xff"}]}',
           b"[" * 100_000]  # fmt: skip


@pytest.mark.parametrize("kind", ["user_message", "assistant_message", "tool_call", "tool_result", "turn_context"])
def test_a_turn_goes_on_behind_what_cannot_be_read(talk: Talk, kind: str) -> None:
    """Each kind of damage in a row of its own; what is whole on both sides of it is what the model reads."""
    host = talk.host
    for number in range(len(DAMAGED) + 2):
        payload = said(f"Said {number}.") if number % 2 else text(f"Asked {number}.")
        nodes = ("assistant_message", "user_message")
        host.ack("node.append", threadId=talk.thread, nodeType=nodes[number % 2 == 0], payload=payload)
    with behind_its_back(talk.store.state) as db:
        keys = [key for (key,) in db.execute("SELECT k FROM nodes ORDER BY k")]
        for key, payload in zip(keys[1:-1], DAMAGED, strict=True):
            db.execute("UPDATE nodes SET type = ?, payload = CAST(? AS TEXT) WHERE k = ?", (kind, payload, key))
    ack = talk.submit("And now?")
    call = talk.far.call()
    told = str([message["content"] for message in call.body["messages"]])
    assert "Asked 0." in told
    assert f"Said {len(DAMAGED) + 1}." in told
    assert "And now?" in told
    assert told.count("Asked") + told.count("Said") == 2
    call.end()
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    notices = [n for n in talk.snapshot()["nodes"] if n["type"] == "system_notice"]  # type: ignore[attr-defined]
    # What is no JSON object at all shows a notice in its place.
    assert len(notices) == (0 if kind == "turn_context" else 6)
