"""A disk that refuses writes or syncs, once or for good, at any change; outcomes that are in doubt."""

from pathlib import Path

import pytest

from durability.faults import Course, Point, commands, cut_after
from durability.judge import Judge
from durability.recorder import SYNC


@pytest.mark.parametrize(
    ("count", "points"), [(8, 60), pytest.param(30, 1000, marks=pytest.mark.long)], ids=["quick", "full"]
)
def test_a_disk_that_refuses_loses_nothing_and_is_named(bench: Path, count: int, points: int) -> None:
    """Each command gets an acknowledgement or a typed error, the next one works once the disk does, and what was
    acknowledged survives a power cut at the end (E50, E54)."""
    course = Course(bench, commands(3, count)).prepare()
    kinds = course.changes()
    places = [number for number, kind in enumerate(kinds) if kind != "opening"]
    tried = 0
    ways = [("ENOSPC", False), ("EIO", False), ("ENOSPC", True), ("EIO", True)]
    step = max(1, len(places) * len(ways) // points)
    wanted = [(number, *way) for number in places for way in ways]
    for number, error, lasting in wanted[::step]:
        point = Point(number, error, lasting)
        log = course.run(point)
        for _ in cut_after(log, course.start, Judge(bench / "image"), number, 10_000):
            pass
        tried += 1
    assert tried >= points


@pytest.mark.parametrize("second", [False, True], ids=["alone", "beside a second host"])
@pytest.mark.parametrize(
    ("count", "every", "cuts"), [(6, 2, 23), pytest.param(16, 1, 7, marks=pytest.mark.long)], ids=["quick", "full"]
)
def test_a_commit_in_doubt_is_settled_by_the_same_command(
    bench: Path, second: bool, count: int, every: int, cuts: int
) -> None:
    """Every sync fails once or for good, its writes in limbo; the same command again is applied exactly once, and
    no power cut afterwards takes what was acknowledged (E34)."""
    course = Course(bench, commands(5, count)).prepare()
    kinds = course.changes()
    syncs = [number for number, kind in enumerate(kinds) if kind == SYNC]
    assert len(syncs) >= count
    for number in syncs[::every]:
        for lasting in (False, True):
            log = course.run(Point(number, "fsync", lasting, second))
            for _ in cut_after(log, course.start, Judge(bench / "image"), number, cuts):
                pass
