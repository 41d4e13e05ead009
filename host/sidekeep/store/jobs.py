"""Jobs: long work that a command admits in its transaction and the runner does in steps.

A row's life is queued → running → done, failed or cancelled; a terminal row never changes and is forgotten after a
week. `position` is what the work needs to go on after any death, `deaths` how many runners ended at this position.
Source: `docs/protocol.md`, *Everything else*.
"""

from typing import Any

import msgspec

from sidekeep.model.errors import Conflict, NotFound, Overloaded
from sidekeep.model.limits import DAY
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx, dumps

sql = statements(__file__)

OPEN = frozenset(("queued", "running"))
#: Jobs that may wait or run at once: each was asked for by a person, and is small as a row.
OPEN_LIMIT = 64
#: What ended is kept for so long, and at most so many of them.
KEPT_MS = 7 * DAY
KEPT = 500
_SHOWN = 100

COLUMNS = (
    "k", "id", "kind", "state", "cancel_requested", "deaths", "done", "total", "note", "client_id", "created_at",
    "updated_at", "code", "message", "params", "position", "result",
)  # fmt: skip


class JobRow:
    """One row of `jobs`, as it was read; `params`, `position` and `result` are JSON text."""

    __slots__ = COLUMNS

    k: int
    id: str
    kind: str
    state: str
    cancel_requested: int
    deaths: int
    done: int
    total: int | None
    note: str | None
    client_id: str | None
    created_at: int
    updated_at: int
    code: str | None
    message: str | None
    params: str
    position: str | None
    result: str | None

    def __init__(self, row: tuple[Any, ...]) -> None:
        for name, value in zip(COLUMNS, row, strict=True):
            setattr(self, name, value)


def admit(tx: Tx, kind: str, params: dict[str, Any], client_id: str | None = None) -> str:
    """Queue a job and return its id; the command's acknowledgement names it. Raises Overloaded."""
    (waiting,) = tx.one(sql.waiting) or (0,)
    if waiting >= OPEN_LIMIT:
        raise Overloaded(f"{OPEN_LIMIT} jobs wait already; try again when some of them have ended.")
    tx.run(sql.forget_old, (tx.now - KEPT_MS, KEPT))
    job_id = tx.new_id()
    tx.run(sql.insert, (job_id, kind, client_id, tx.now, tx.now, dumps(params)))
    tx.change("job.queued", id=job_id)
    return job_id


def get(tx: Tx, job_id: str) -> JobRow:
    """Raises NotFound."""
    row = tx.one(f"{sql.columns} WHERE id = ?", (job_id,))
    if row is None:
        raise NotFound(f"No job {job_id}.")
    return JobRow(row)


def open_jobs(tx: Tx) -> list[JobRow]:
    """What waits or runs, oldest first."""
    return [JobRow(row) for row in tx.all(f"{sql.columns} WHERE state IN ('queued', 'running') ORDER BY k")]


def take(tx: Tx, job_id: str, *, ours: bool = False) -> JobRow | None:
    """A job as the runner holds it from now on; None when it has ended meanwhile.

    One that is found running, and is not `ours` already, was left by a runner that died: only one lives at a time.
    """
    job = get(tx, job_id)
    if job.state not in OPEN:
        return None
    job.deaths += job.state == "running" and not ours
    tx.run(sql.take, (job.deaths, tx.now, job.k))
    job.state = "running"
    return job


def written(position: object) -> str | None:
    """A position as its row has it."""
    return None if position is None else dumps(position)


def step(tx: Tx, job: JobRow, done: int, total: int | None, note: str, position: object) -> None:
    """How far it is, in the transaction of what the step wrote. Raises Conflict when the job has ended."""
    text = written(position)
    deaths = job.deaths if (done, text) == (job.done, job.position) else 0
    tx.run(sql.step, (done, total, note, text, deaths, tx.now, job.k))
    if tx.changed_rows() != 1:
        raise Conflict("The job has ended meanwhile.")
    tx.change("job.progress", id=job.id, detail={"jobId": job.id, "done": done, "total": total or 0, "note": note})
    job.done, job.total, job.note, job.position, job.deaths = done, total, note, text, deaths


def end(
    tx: Tx, job: JobRow, state: str, *, data: object = None, code: str | None = None, message: str | None = None
) -> bool:
    """Done, failed or cancelled, with its report; whether it had not ended before."""
    result = None if data is None else dumps(data)
    tx.run(sql.end, (state, code, message, result, tx.now, job.k))
    if tx.changed_rows() != 1:
        return False
    detail: dict[str, object] = {"jobId": job.id, "state": state}
    if result is not None:
        detail["data"] = msgspec.Raw(result.encode())
    if code is not None:
        detail["code"] = code
    if message is not None:
        detail["message"] = message
    tx.change("job.done", id=job.id, detail=detail)
    return True


def cancelled(tx: Tx, job: JobRow) -> bool:
    """It ends here because somebody asked for it; what its steps wrote stays."""
    return end(tx, job, "cancelled", code="conflict", message="The job was cancelled.")


def put_back(tx: Tx, job: JobRow) -> None:
    """A runner that leaves hands it to the next one: nobody died of it."""
    tx.run(sql.put_back, (tx.now, job.k))


def cancel(tx: Tx, job_id: str) -> bool:
    """Ask a job to end; one that has not begun ends at once. Whether a runner has to hear of it.

    One that has ended already stays as it is. Raises NotFound.
    """
    job = get(tx, job_id)
    if job.state == "queued":
        cancelled(tx, job)
    elif job.state == "running":
        tx.run(sql.ask_to_cancel, (tx.now, job.k))
        tx.change("job.cancel", id=job.id)
        return True
    return False


def listing(tx: Tx) -> list[dict[str, Any]]:
    """The newest jobs, as the protocol shows them."""
    return [shown(JobRow(row)) for row in tx.all(f"{sql.columns} ORDER BY k DESC LIMIT ?", (_SHOWN,))]


def shown(job: JobRow) -> dict[str, Any]:
    """A Job of the protocol; `total` is 0 while nobody knows it."""
    entry: dict[str, Any] = {
        "jobId": job.id,
        "kind": job.kind,
        "state": "waiting" if job.state == "queued" else job.state,
        "done": job.done,
        "total": job.total or 0,
        "note": job.note or "",
        "createdAt": job.created_at,
        "updatedAt": job.updated_at,
    }
    if job.result is not None:
        entry["data"] = msgspec.Raw(job.result.encode())
    if job.code is not None:
        entry["code"] = job.code
    if job.message is not None:
        entry["message"] = job.message
    return entry
