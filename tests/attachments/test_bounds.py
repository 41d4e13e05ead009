"""Bounds: memory stays flat while an upload passes, and making room holds nobody up (P14, the bars of the quota)."""

import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from sidekeep.model.places import Places
from sidekeep.store import blobs, eviction, quota, settings, threads, uploads
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx
from support.hostclient import HostClient
from support.stores import Store
from support.uploading import begin, chunks, made, upload

MIB = 1024 * 1024
CAPTURED = {"kind": "screenshot", "provenance": "page", "trust": "untrusted", "mime": "image/png"}


def peak_mib(host: HostClient) -> float:
    """The most memory that the host has used so far."""
    status = Path(f"/proc/{host.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def test_memory_stays_flat_while_64_mib_pass(store: Store) -> None:
    """P14: all chunks of 64 MiB in flight at once, behind a writer that is held up, cost at most 24 MiB."""
    host = store.open(timeout=60)
    upload(host, made(MIB), kind="page_snapshot", provenance="page")  # everything is imported from here on
    before = peak_mib(host)
    data = made(64 * MIB, seed=1)
    attachment = begin(host, data, kind="page_snapshot", provenance="page")
    other = apsw.Connection(str(store.state / "sidekeep.db"))
    other.execute("BEGIN IMMEDIATE")
    submissions: list[str] = []
    pieces = chunks(data)
    while len(submissions) < 16:  # as many as surely fit in the pipe and the host
        index, piece = next(pieces)
        submissions.append(host.send("attachment.chunk", attachmentId=attachment, index=index, data=piece))
    other.execute("ROLLBACK")
    other.close()
    for index, piece in pieces:
        submissions.append(host.send("attachment.chunk", attachmentId=attachment, index=index, data=piece))
    for submission in submissions:
        assert host.answer(submission)["type"] == "command.ack"
    host.ack("attachment.commit", attachmentId=attachment)
    assert peak_mib(host) - before <= 24


def test_room_is_made_in_short_steps(tmp_path: Path) -> None:
    """5,000 attachments of 200 MiB: half of them go in less than 2 s of work, no step of it takes more than 50 ms."""
    count, size = 5000, 40 * 1024
    with closing(open_store(Places(str(tmp_path / "state")).make())) as store:
        doorway = Doorway(store)
        for batch in range(0, count, 100):
            doorway.run(partial(_keep, numbers=range(batch, batch + 100), size=size))
        doorway.run(partial(settings.put, patch={"attachments.limit_bytes": count * size // 2}))
        steps = [_timed(doorway, partial(eviction.plan, watched=(), most=-1))]
        going = steps[0][1]
        assert len(going) == count // 2
        for start in range(0, len(going), eviction.STEP_BLOBS):
            chosen = going[start : start + eviction.STEP_BLOBS]
            steps.append(_timed(doorway, partial(eviction.mark, chosen=chosen, watched=())))
            assert steps[-1][1] == len(chosen)
        while (freed := _timed(doorway, blobs.remove_dropped))[1]:
            steps.append(freed)
        left = doorway.run(quota.usage)
        rows = doorway.run(lambda tx: tx.one("SELECT count(*) FROM blob_chunks"))
    assert (left.evictable_bytes, left.blobs, rows) == (count * size // 2, count // 2, (count // 2,))
    assert sum(seconds for seconds, _ in steps) < 2
    assert max(seconds for seconds, _ in steps) <= 0.05


def _keep(tx: Tx, numbers: range, size: int) -> None:
    thread = threads.create(tx, {})
    for number in numbers:
        data = number.to_bytes(8, "big") * (size // 8)
        attachment, _ = uploads.begin(tx, thread.k, {**CAPTURED, "size": size})
        uploads.receive(tx, attachment, 0, data)
        uploads.keep(tx, attachment)


def _timed(doorway: Doorway, step: Callable[[Tx], Any]) -> tuple[float, Any]:
    """The processor time of one step under the write lock, so that a busy machine is not measured; and its value."""
    begun = time.process_time()
    value = doorway.run(step)
    return time.process_time() - begun, value
