"""How a long event is cut: by hand and by Hypothesis, at sizes that make every border occur."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import EVENT_BYTES
from sidekeep.wire.parts import split

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=400)


def joined(frames: list[bytes], limit: int) -> str:
    """The event's text as a client puts it together; checks every rule of the contract on the way."""
    parts = [json.loads(frame) for frame in frames]
    assert all(len(frame) <= limit for frame in frames)
    assert all(list(part) == ["type", "id", "index", "count", "data"] for part in parts)
    assert {part["type"] for part in parts} == {"part"}
    assert len({part["id"] for part in parts}) == 1
    assert is_uuid(parts[0]["id"])
    assert [part["index"] for part in parts] == list(range(len(parts)))
    assert {part["count"] for part in parts} == {len(parts)}
    for part in parts:
        assert part["data"]
        part["data"].encode("utf-16-le")  # raises where a surrogate stands alone
    return "".join(part["data"] for part in parts)


@settings(max_examples=60)
@given(st.recursive(TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)),
       st.integers(min_value=130, max_value=300), st.booleans(), st.booleans())  # fmt: skip
def test_parts_join_to_the_same_text(value: object, limit: int, ascii_only: bool, indented: bool) -> None:
    """Joined in index order they are the event's JSON text, byte for byte, whatever stands in it."""
    message = json.dumps(value, ensure_ascii=ascii_only, indent="\t" if indented else None)
    assert joined(split(message.encode(), limit), limit) == message


@pytest.mark.parametrize("character", ["x", '"', "\\", "é", "漢", "😀", "\x7f"])
def test_parts_are_filled_well(character: str) -> None:
    """An event of several MiB needs no more parts than its bytes and their escapes call for, give or take one."""
    message = json.dumps({"text": character * 1_500_000}, ensure_ascii=False)
    frames = split(message.encode(), EVENT_BYTES)
    assert joined(frames, EVENT_BYTES) == message
    grown = sum(len(frame) for frame in frames)
    assert len(frames) <= grown // (EVENT_BYTES - 20_000) + 1


def test_each_message_has_an_id_of_its_own() -> None:
    """Parts of two messages may come mixed: the id tells them apart."""
    first, second = (json.loads(split(b'"' + b"x" * 300 + b'"', 200)[0])["id"] for _ in range(2))
    assert first != second


def test_a_limit_without_room_is_refused() -> None:
    """A limit in which no character fits is a fault of the caller, not an endless loop."""
    with pytest.raises(ValueError, match="no room"):
        split(b"{}", 120)
