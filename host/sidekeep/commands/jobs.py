"""`job.cancel`, `job.list`: long work that the runner does in steps."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.model.errors import NotFound
from sidekeep.model.ops import JobCancel, JobList
from sidekeep.store.tx import Tx

_SHOWN = 100


def cancel(tx: Tx, op: JobCancel, ctx: Context) -> dict[str, Any]:
    row = tx.one("SELECT state FROM jobs WHERE id = ?", (op.job_id,))
    if row is None:
        raise NotFound(f"No job {op.job_id}.")
    if row[0] == "queued":
        tx.run("UPDATE jobs SET state = 'cancelled', updated_at = ? WHERE id = ?", (tx.now, op.job_id))
        tx.change("job.done", id=op.job_id, detail={"jobId": op.job_id, "code": "cancelled"})
    elif row[0] == "running":
        tx.run("UPDATE jobs SET cancel_requested = 1, updated_at = ? WHERE id = ?", (tx.now, op.job_id))
        tx.change("job.cancel", id=op.job_id)
        ctx.work = True
    return {}


def listing(tx: Tx, _op: JobList, _ctx: Context) -> dict[str, Any]:
    jobs = []
    for job_id, kind, state, done, total, note, created, updated, code, message, result in tx.all(
        "SELECT id, kind, state, done, total, note, created_at, updated_at, code, message, result FROM jobs "
        "ORDER BY k DESC LIMIT ?",
        (_SHOWN,),
    ):
        job = {"jobId": job_id, "kind": kind, "state": state, "done": done, "createdAt": created, "updatedAt": updated}
        optional = {"total": total, "note": note, "code": code, "message": message}
        job.update({key: value for key, value in optional.items() if value is not None})
        if result is not None:
            job["data"] = msgspec.Raw(result.encode())
        jobs.append(job)
    return {"jobs": jobs}
