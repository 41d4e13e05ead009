"""Ids: UUID version 7, rising, whatever the clock does."""

import threading
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekeep.model.ids import IdSource, is_uuid, new_id

FOUR = "2f5a405e-4eb0-488c-879f-4f4b083a9b30"
ONE = "d0bc6154-ed27-11f1-8d40-02fc00000001"


def test_an_id_is_a_version_7_uuid_of_its_millisecond() -> None:
    """RFC 9562, section 5.7: 48 bits of milliseconds, version, variant."""
    for ms in (0, 1, 1_700_000_000_000, 2**48 - 1):
        made = uuid.UUID(IdSource(clock=lambda ms=ms: ms or 1)())
        assert made.version == 7
        assert made.variant == uuid.RFC_4122
        assert made.int >> 80 == (ms or 1)


@given(st.lists(st.integers(0, 2**47), min_size=1, max_size=200))
def test_ids_rise_even_when_the_clock_stands_or_goes_back(times: list[int]) -> None:
    """Rising ids keep an index's pages together; two are never the same."""
    clock = iter(times)
    make = IdSource(clock=lambda: next(clock))
    made = [make() for _ in times]
    assert made == sorted(set(made))
    assert all(is_uuid(one) for one in made)


def test_ids_rise_when_the_random_part_is_used_up() -> None:
    """Entropy of all ones overflows the 74 bits: the next id takes the next millisecond."""
    make = IdSource(clock=lambda: 1_000, entropy=lambda count: b"\xff" * count)
    made = [make() for _ in range(1_000)]
    assert made == sorted(set(made))


def test_ids_of_many_threads_are_all_different() -> None:
    """One source for all threads of a process."""
    found: list[list[str]] = [[] for _ in range(8)]
    threads = [threading.Thread(target=lambda own=own: own.extend(new_id() for _ in range(2_000))) for own in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one for own in found for one in own}) == 16_000
    assert all(own == sorted(own) for own in found)


@pytest.mark.parametrize("text", [str(uuid.UUID(int=0)), FOUR, ONE, "f" * 8 + "-ffff" * 3 + "-" + "f" * 12])
def test_any_lower_case_uuid_is_taken_from_a_client(text: str) -> None:
    """The host makes version 7 and accepts any."""
    assert is_uuid(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", None, 7, b"", FOUR.upper(), FOUR + "\n", FOUR.replace("-", ""),
        "{" + FOUR + "}", "g" * 8 + "-0000" * 3 + "-" + "0" * 12, "-" * 36,
        "0000000--000-0000-0000-000000000000", "\uff10" * 8 + "-0000" * 3 + "-" + "0" * 12,
    ],
)  # fmt: skip
def test_nothing_else_is(text: object) -> None:
    """Upper case, braces, missing dashes, other digits, a trailing newline: each would be another id."""
    assert not is_uuid(text)
