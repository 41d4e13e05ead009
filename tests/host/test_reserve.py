"""A disk that is full to its last block still takes what frees it: the host keeps a reserve for that."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sidekeep.store.reserve import RESERVE_BYTES
from support.hostclient import HostClient
from support.runners import until
from support.stores import text


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 72 MiB in memory."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=72m", "tmpfs", str(tmp_path)], check=True)
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def _fill(file: Path) -> None:
    """To the last block."""
    with file.open("ab", buffering=0) as ballast, suppress(OSError):
        while ballast.write(bytes(65536)):
            continue
    assert shutil.disk_usage(file.parent).free == 0


def test_deletions_work_on_a_full_disk(disk: Path) -> None:
    """Appends are refused, a purge and what follows are done, and the reserve comes back when there is room."""
    reserve = disk / "state" / "reserve"
    with HostClient(disk / "state") as host:
        host.initialize()
        threads = [host.ack("thread.create")["threadId"] for _ in range(4)]
        until(lambda: reserve.exists() and reserve.stat().st_size == RESERVE_BYTES, "the reserve")
        ballast = disk / "ballast"
        _fill(ballast)
        big = text("x" * 900_000)
        for _ in range(40):  # until the log, which has its size already, is full too
            told = host.ask("node.append", threadId=threads[0], nodeType="user_message", payload=big)
            if told["type"] == "command.rejected":
                break
        assert host.refused("node.append", threadId=threads[0], nodeType="user_message", payload=big)["code"] == (
            "storage_full"
        )
        assert reserve.exists()
        for thread in threads[:3]:
            host.ack("thread.delete", threadId=thread, purge=True)
        ballast.unlink()
        host.ack("node.append", threadId=threads[3], nodeType="user_message", payload=text("And on."))
        until(lambda: reserve.exists() and reserve.stat().st_size == RESERVE_BYTES, "the reserve again")
