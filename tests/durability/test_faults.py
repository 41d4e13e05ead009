"""A disk that refuses writes or syncs, once or for good, at any change; outcomes that are in doubt."""

from pathlib import Path

import pytest

from durability.faults import Course, Point, commands, cut_after
from durability.judge import Judge
from durability.recorder import FAILED_SYNC, SYNC


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
        for _ in cut_after(log, course.start, Judge(bench / "image"), number, 1, reach=0):
            pass
        tried += 1
    assert tried >= points


@pytest.mark.parametrize("at_once", [1, 3], ids=["one by one", "in groups"])
@pytest.mark.parametrize("second", [False, True], ids=["alone", "beside a second host"])
@pytest.mark.parametrize(
    ("count", "every", "reach"), [(8, 4, 60), pytest.param(16, 1, 300, marks=pytest.mark.long)], ids=["quick", "full"]
)
def test_a_commit_in_doubt_is_settled_by_the_same_command(
    bench: Path, second: bool, at_once: int, count: int, every: int, reach: int
) -> None:
    """Every sync fails once or for good, its writes in limbo; the same command again is applied exactly once, and
    no power cut afterwards takes what was acknowledged (E34)."""
    course = Course(bench, commands(5, count), at_once).prepare()
    syncs = [number for number, kind in enumerate(course.changes()) if kind == SYNC]
    assert len(syncs) >= count // at_once
    for number in syncs[2::every]:
        for lasting in (False, True):
            log = course.run(Point(number, "fsync", lasting, second))
            failed = next(place for place, note in enumerate(log.notes) if note.kind == FAILED_SYNC)
            for _ in cut_after(log, course.start, Judge(bench / "image"), number, every, failed, reach):
                pass


@pytest.mark.parametrize("failed_sync_first", [False, True], ids=["kill -9", "failed sync, then kill -9"])
@pytest.mark.parametrize(
    ("count", "most", "every", "reach"),
    [(6, 9, 9, 120), pytest.param(12, 1000, 3, 300, marks=pytest.mark.long)],
    ids=["quick", "full"],
)
def test_what_is_acknowledged_after_a_death_inside_commit_survives_a_power_cut(
    bench: Path, failed_sync_first: bool, count: int, most: int, every: int, reach: int
) -> None:
    """A commit that only the page cache held is synced before its receipt answers anyone (receipt sweep, E12)."""
    course = Course(bench, commands(7, count)).prepare()
    kinds = course.changes()
    places = [number for number, kind in enumerate(kinds) if kind == SYNC or (kind != "opening" and number % 5 == 0)]
    if failed_sync_first:
        places = [number for number in places if kinds[number] == SYNC]
    for number in places[:: max(1, len(places) // most)]:
        log = course.die(number, failed_sync_first)
        for _ in cut_after(log, course.start, Judge(bench / "image"), number, every, number, reach):
            pass
