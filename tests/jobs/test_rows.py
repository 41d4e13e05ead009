"""The rows of jobs: every move is one of the table's, a position and what it stands for are one transaction."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidekeep.model.errors import Conflict, NotFound, Overloaded
from sidekeep.model.limits import DAY
from sidekeep.model.places import Places
from sidekeep.store import jobs
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx

NOW = 1_800_000_000_000


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def doorway(tmp_path: Path, clock: Clock) -> Iterator[Doorway]:
    store = open_store(Places(str(tmp_path / "state")))
    yield Doorway(store, clock=clock)
    store.close()


def admit(doorway: Doorway, kind: str = "k") -> str:
    job: str = doorway.run(lambda tx: jobs.admit(tx, kind, {"n": 1}, "client"))
    return job


def take(doorway: Doorway, job: str, ours: bool = False) -> Any:
    return doorway.run(lambda tx: jobs.take(tx, job, ours=ours))


def told(doorway: Doorway, job: str) -> list[str]:
    rows: list[Any] = doorway.run(lambda tx: tx.all("SELECT kind FROM changes WHERE id = ? ORDER BY seq", (job,)))
    return [kind for (kind,) in rows]


def test_a_life(doorway: Doorway) -> None:
    """Queued, running, a step, done: the position goes with the end, the report stays, and others hear of each."""
    job_id = admit(doorway)
    job = take(doorway, job_id)
    assert (job.state, job.deaths, job.position) == ("running", 0, None)
    doorway.run(lambda tx: jobs.step(tx, job, 1, 3, "one", {"at": 1}))
    assert doorway.run(lambda tx: jobs.end(tx, job, "done", data={"n": 3}))
    row = doorway.run(lambda tx: jobs.get(tx, job_id))
    assert (row.state, row.done, row.total, row.position, row.result) == ("done", 3, 3, None, '{"n":3}')
    assert told(doorway, job_id) == ["job.queued", "job.progress", "job.done"]


def test_the_end_is_the_end(doorway: Doorway) -> None:
    """What has ended takes no step, ends no second time, and is not cancelled any more."""
    job = take(doorway, admit(doorway))
    assert doorway.run(lambda tx: jobs.end(tx, job, "failed", code="internal", message="m"))
    assert not doorway.run(lambda tx: jobs.end(tx, job, "done", data=1))
    assert not doorway.run(lambda tx: jobs.cancel(tx, job.id))
    with pytest.raises(Conflict):
        doorway.run(lambda tx: jobs.step(tx, job, 1, 1, "", None))
    assert take(doorway, job.id) is None
    assert doorway.run(lambda tx: jobs.get(tx, job.id)).state == "failed"


def test_a_step_is_all_or_nothing(doorway: Doorway) -> None:
    """A step that fails leaves neither what it wrote nor its position."""
    job = take(doorway, admit(doorway))

    def fails(tx: Tx) -> None:
        tx.run("INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)")
        jobs.step(tx, job, 1, 2, "", {"at": 1})
        raise NotFound("gone")

    with pytest.raises(NotFound):
        doorway.run(fails)
    row = doorway.run(lambda tx: jobs.get(tx, job.id))
    assert (row.done, row.position) == (0, None)
    assert doorway.run(lambda tx: tx.one("SELECT count(*) FROM settings")) == (0,)


def test_deaths_are_counted_at_one_position(doorway: Doorway) -> None:
    """A job found running was left by a dead runner; a step in between starts the count again."""
    job_id = admit(doorway)
    take(doorway, job_id)
    assert take(doorway, job_id).deaths == 1
    assert take(doorway, job_id, ours=True).deaths == 1
    job = take(doorway, job_id)
    assert job.deaths == 2
    doorway.run(lambda tx: jobs.step(tx, job, 0, 2, "again", None))
    assert take(doorway, job_id).deaths == 3, "the same position is no progress"
    doorway.run(lambda tx: jobs.step(tx, job, 1, 2, "on", {"at": 1}))
    assert take(doorway, job_id).deaths == 1


def test_handed_over(doorway: Doorway) -> None:
    """One that a runner puts back counts no death."""
    job = take(doorway, admit(doorway))
    doorway.run(lambda tx: jobs.put_back(tx, job))
    assert take(doorway, job.id).deaths == 0


def test_bounds(doorway: Doorway, clock: Clock) -> None:
    """So many may wait and no more; what ended is forgotten after a week, and before when there are very many."""
    waiting = [admit(doorway) for _ in range(jobs.OPEN_LIMIT)]
    with pytest.raises(Overloaded):
        admit(doorway)
    for job_id in waiting:
        doorway.run(lambda tx, job_id=job_id: jobs.cancel(tx, job_id))
    assert len(doorway.run(jobs.listing)) == jobs.OPEN_LIMIT
    clock.now += 8 * DAY
    last = admit(doorway)
    assert [job["jobId"] for job in doorway.run(jobs.listing)] == [last]

    def many(tx: Tx) -> None:
        for _ in range(jobs.KEPT + 40):
            jobs.cancel(tx, jobs.admit(tx, "k", {}))

    doorway.run(many)
    (count,) = doorway.run(lambda tx: tx.one("SELECT count(*) FROM jobs"))
    assert count <= jobs.KEPT + 2
    assert doorway.run(lambda tx: jobs.get(tx, last)).state == "queued"
