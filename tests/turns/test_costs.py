"""What a turn cost, by the prices in the snapshot: US dollars for a million tokens."""

from typing import Any

import pytest

from sidekeep.turns.finish import cost_of

PRICES = {"input": 3.0, "output": 15.0, "cacheRead": 0.3}


@pytest.mark.parametrize(
    ("usage", "prices", "expected"),
    [
        ({"inputTokens": 1_000_000, "outputTokens": 0}, PRICES, 3.0),
        ({"inputTokens": 0, "outputTokens": 1_000_000}, PRICES, 15.0),
        # The input is the total: what came from the cache is taken out before it is paid at the full price.
        ({"inputTokens": 1_000_000, "outputTokens": 0, "cacheReadTokens": 400_000}, PRICES, 0.6 * 3.0 + 0.4 * 0.3),
        # Without a price of its own a cached token costs what any other does.
        (
            {"inputTokens": 1_000_000, "outputTokens": 0, "cacheReadTokens": 400_000},
            {"input": 3.0, "output": 15.0},
            3.0,
        ),
        # A price of zero is one.
        ({"inputTokens": 1_000, "outputTokens": 0, "cacheReadTokens": 1_000}, {**PRICES, "cacheRead": 0}, 0.0),
        # An endpoint that counts the cache beside the input cannot make a turn cheaper than nothing.
        ({"inputTokens": 100, "outputTokens": 0, "cacheReadTokens": 500}, PRICES, 100 * 0.3 / 1e6),
        ({"inputTokens": 12, "outputTokens": 34}, {"output": 2.0}, 68 / 1e6),
    ],
)
def test_a_turn_costs_its_tokens(usage: dict[str, int], prices: dict[str, Any], expected: float) -> None:
    assert cost_of(usage, prices) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("prices", [None, {}])
def test_without_prices_there_is_no_cost(prices: dict[str, Any] | None) -> None:
    """Nothing is said rather than zero."""
    assert cost_of({"inputTokens": 1, "outputTokens": 1}, prices) is None
