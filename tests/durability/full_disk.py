"""A real file system with little room, filled to its end: writes refuse, reads work, and with room all goes on."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from durability.faults import check_once, commands
from durability.judge import Broken
from durability.product import Product
from sidekeep.model.places import Places

SIZE = "8m"


def small_disk() -> Path:
    """A file system of 8 MiB in memory; only root may make one. Raises Broken where it cannot be made."""
    folder = Path(tempfile.mkdtemp(prefix="sidekeep-small-disk-"))
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        folder.rmdir()
        raise Broken(f"no small file system could be made: {done.stderr.decode().strip()}")
    return folder


def fill(folder: Path) -> tuple[int, int]:
    """Returns (refused while full, acknowledged before); unmounts. Raises Broken."""
    try:
        return _fill(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def _fill(folder: Path) -> tuple[int, int]:
    product = Product(Places(str(folder / "state")))
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(1024 * 1024))
    ops = commands(17, 3000)
    refused = done = 0
    full = False
    for number, op in enumerate(ops):
        answer = product.do(op)
        if answer["type"] == "command.ack":
            done += 1
        elif answer["code"] in ("storage_full", "store_busy"):
            refused += 1
            full = True
        else:
            raise Broken(f"on a full disk {op['type']} got {answer['code']}: {answer['message']}")
        if full and refused == 20:
            ops = ops[: number + 1]
            break
    if not full:
        raise Broken("the disk was never full")
    if not product.query({"type": "thread.list", "submissionId": ops[0]["submissionId"]})["threads"]:
        raise Broken("reading does not work on a full disk")
    ballast.unlink()
    for op in ops:
        answer = product.do(op)
        if answer["type"] != "command.ack":
            raise Broken(f"with room again {op['type']} got {answer['code']}: {answer['message']}")
    check_once(product, ops)
    product.close()
    shutil.rmtree(folder / "state")
    return refused, done
