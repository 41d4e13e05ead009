"""Which faults of an endpoint are waited for, and for how long."""

import pytest

from sidekeep.model.errors import (
    ProviderAuth,
    ProviderError,
    ProviderNetwork,
    ProviderOverloaded,
    ProviderProtocol,
    ProviderRateLimit,
)
from sidekeep.turns.retry import attempts_after, pause_after


def steady(low: float, high: float) -> float:
    """No jitter."""
    return (low + high) / 2 if low else 0.0


def test_pauses_grow_and_end() -> None:
    """Half a second, then twice as long each time; after the sixth attempt it is told."""
    error = ProviderOverloaded("busy")
    assert [pause_after(error, attempt, steady) for attempt in range(1, 7)] == [0.5, 1.0, 2.0, 4.0, 8.0, None]
    assert attempts_after(error) == 6


def test_a_machine_that_is_not_there_is_asked_three_times() -> None:
    error = ProviderNetwork("nothing answers there")
    assert [pause_after(error, attempt, steady) for attempt in range(1, 4)] == [0.3, 1.0, None]
    assert attempts_after(error) == 3


@pytest.mark.parametrize("error", [ProviderAuth("no"), ProviderProtocol("garbage")], ids=lambda e: e.code)
def test_what_waiting_does_not_mend_is_told_at_once(error: ProviderError) -> None:
    assert pause_after(error, 1) is None


@pytest.mark.parametrize(
    ("asked", "pause"), [(0, 0.0), (1_500, 1.5), (60_000, 60.0), (60_500, None), (3_600_000, None)]
)
def test_the_endpoint_says_how_long(asked: int, pause: float | None) -> None:
    """It is asked no earlier than it wants; more than a minute is the user's to decide."""
    assert pause_after(ProviderRateLimit("slow down", retryAfterMs=asked), 1, steady) == pause


def test_jitter_keeps_the_bounds() -> None:
    """Never earlier than asked for, never more than a quarter beside the pause."""
    pauses = [pause_after(ProviderOverloaded("busy"), 2) or 0 for _ in range(500)]
    assert 0.75 <= min(pauses) < 0.85
    assert 1.15 < max(pauses) <= 1.25
    asked = [pause_after(ProviderRateLimit("wait", retryAfterMs=2_000), 1) or 0 for _ in range(500)]
    assert min(asked) >= 2.0
    assert max(asked) <= 2.125
