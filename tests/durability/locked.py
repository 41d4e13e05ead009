"""A second process that tries for the write lock at the worst moment: inside another's COMMIT."""

import subprocess
import sys
from pathlib import Path

from durability.faults import commands
from durability.judge import Broken
from durability.product import Product
from durability.recorder import SYNC, Log, recording
from sidekeep.model.places import Places

PROBER = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.pragma("journal_mode")
print("ready", flush=True)
for _ in sys.stdin:
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
        print("free", flush=True)
    except apsw.BusyError:
        print("busy", flush=True)
"""


def nobody_gets_in(bench: Path, count: int) -> int:
    """At each sync of a commit the other process finds the store locked. Returns how often it tried. Raises Broken."""
    folder = Places(str(bench / "locked"))
    Product(folder).close()
    log, tries = Log(), 0
    with recording(log) as vfs:
        product = Product(folder, vfs=vfs)
        prober = subprocess.Popen(
            [sys.executable, "-c", PROBER, folder.database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert prober.stdin is not None
        assert prober.stdout is not None
        told, heard = prober.stdin, prober.stdout
        try:
            assert heard.readline() == "ready\n"

            def probe(kind: str, name: str) -> None:
                nonlocal tries
                if kind == SYNC and name.endswith("-wal"):
                    told.write("now\n")
                    told.flush()
                    tries += 1
                    if heard.readline() != "busy\n":
                        raise Broken("another process got the write lock inside our COMMIT")

            log.watch = probe
            for op in commands(9, count):
                answer = product.do(op)
                if answer["type"] != "command.ack":
                    raise Broken(f"{answer['code']}: {answer['message']}")
            log.watch = None
        finally:
            told.close()
            heard.close()
            prober.wait()
            product.close()
    return tries
