"""Into the trash, or gone for good (first document §3.3); whoever asks for it comes through here."""

from sidekeep.store import purge as purges
from sidekeep.store import runs
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx


def delete(tx: Tx, row: ThreadRow, *, purge: bool = False) -> None:
    """End what runs in a thread, then hide it, or with `purge` remove its rows.

    It waits for no other process: every transaction of the runner names the fence that it saw.
    """
    row.set("fence", row.fence + 1)
    _end_runs(tx, row)
    if purge:
        purges.thread(tx, row)
    else:
        row.set("deleted_at", tx.now)
        row.set("status", "idle")
        tx.finish()  # others hear of the row before they hear that it is gone
    tx.change("thread.deleted", row.id, detail={"purged": purge})


def _end_runs(tx: Tx, row: ThreadRow) -> None:
    runs.settle_partial(tx, row)
    for run in runs.open_of_thread(tx, row.k):
        runs.set_state(tx, run, "interrupted", stop_reason="interrupted", finished_at=tx.now, interrupt_requested=1)
    for table in ("approvals", "interactions"):
        tx.run(f"UPDATE {table} SET status = 'cancelled' WHERE thread = ? AND status = 'pending'", (row.k,))
