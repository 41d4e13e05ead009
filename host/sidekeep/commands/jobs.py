"""`job.cancel`, `job.list`, and how a command begins a job."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.ops.port import JobCancel, JobList
from sidekeep.store import jobs
from sidekeep.store.tx import Tx


def begin(tx: Tx, ctx: Context, kind: str, params: dict[str, Any]) -> dict[str, Any]:
    """Admit a job in the command's transaction; the acknowledgement names it. Raises Overloaded."""
    job_id = jobs.admit(tx, kind, params, ctx.client_id)
    ctx.work = True
    return {"jobId": job_id}


def cancel(tx: Tx, op: JobCancel, ctx: Context) -> dict[str, Any]:
    ctx.work = jobs.cancel(tx, op.job_id)
    return {}


def listing(tx: Tx, _op: JobList, _ctx: Context) -> dict[str, Any]:
    return {"jobs": jobs.listing(tx)}
