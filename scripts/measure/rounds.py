"""Workload and yardstick in turns, so that a machine that slows down slows both; medians and their ratio."""

import math
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Measure = Callable[[], float]


@dataclass(frozen=True)
class Figure:
    """One line of the table: `ours` and `yard` are medians in `unit`; the bar judges `ratio` (ours to yard)."""

    bar: str
    what: str
    unit: str
    ours: float
    yard: float
    yardstick: str
    wanted: str
    ratio: float
    met: bool

    def row(self) -> dict[str, Any]:
        return asdict(self)


def in_turns(measures: dict[str, Measure], rounds: int) -> dict[str, float]:
    """The median of each over `rounds` rounds, A B C A B C …"""
    found: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return {name: statistics.median(values) for name, values in found.items()}


def at_least(bar: str, what: str, unit: str, ours: float, yard: float, yardstick: str, bound: float) -> Figure:
    """More is better: ours has to be at least `bound` times the yardstick."""
    ratio = ours / yard
    return Figure(bar, what, unit, ours, yard, yardstick, f"≥ {bound:g}×", ratio, ratio >= bound)


def at_most(bar: str, what: str, unit: str, ours: float, yard: float, yardstick: str, bound: float) -> Figure:
    """Less is better: ours may be at most `bound` times the yardstick."""
    ratio = ours / yard
    return Figure(bar, what, unit, ours, yard, yardstick, f"≤ {bound:g}×", ratio, ratio <= bound)


def within(bar: str, what: str, unit: str, ours: float, bound: float) -> Figure:
    """An absolute bound, for what has no yardstick: a wait that a person would notice."""
    return Figure(bar, what, unit, ours, bound, "bound", f"≤ {bound:g} {unit}", ours / bound, ours <= bound)


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]
