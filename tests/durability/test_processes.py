"""Real processes: killed at any moment, several on one store, and a file system that is full."""

import os
from pathlib import Path

import pytest

from durability.deaths import kill_sweep, two_writers
from durability.full_disk import fill, small_disk


@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.long)], ids=["quick", "full"])
def test_kill_9_loses_nothing_that_was_acknowledged(bench: Path, count: int) -> None:
    """Two writers at a time are killed at any moment: each acknowledged command is there once, none by half, and
    those in the middle are settled by being sent again (E12)."""
    killed, acknowledged = kill_sweep(bench, count, 1)
    assert killed >= count
    assert acknowledged > 0


@pytest.mark.parametrize("seconds", [1.5, pytest.param(60.0, marks=pytest.mark.long)], ids=["quick", "full"])
def test_two_processes_on_one_store_lose_nothing(bench: Path, seconds: float) -> None:
    """Every command of both is acknowledged, nothing is busy, the counts are exact (E42, E43)."""
    assert two_writers(bench, seconds, 1) > 20


@pytest.mark.long
def test_a_real_disk_that_is_full(bench: Path) -> None:
    """Reads work, writes refuse with a typed error, and with room again everything is done once (E54)."""
    if os.getuid() != 0:
        return  # only root can make a file system; `scripts/durability --long --only disk` says so
    refused, done = fill(small_disk())
    assert refused >= 20
    assert done > 0
