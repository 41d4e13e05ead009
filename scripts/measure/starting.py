"""P10: cold starts of the host against an empty Python and against an empty host."""

import os
import subprocess
import sys
import time
from pathlib import Path

from measure.pipe import PipeHost
from measure.rounds import Figure, at_most, in_turns
from sidekeep.install.launcher import entry, import_folders
from sidekeep.model.ids import new_id


def p10(folder: Path, rounds: int) -> list[Figure]:
    """From the start of the process to `initialized`, and to the first acknowledged command."""
    script = folder / "host.py"
    script.write_bytes(entry(import_folders()))
    command = [sys.executable, "-IS", str(script)]
    empty = [sys.executable, "-IS", str(Path(__file__).with_name("empty_host.py"))]
    state = folder / "p10"
    with PipeHost(state, command) as host:  # the store is made once; compiled files are there
        host.open()

    def initialized(words: list[str]) -> float:
        with PipeHost(state, words) as host:
            host.send(_OPENING)
            host.until("initialized")
            return (time.perf_counter() - host.started) * 1000

    def acknowledged() -> float:
        with PipeHost(state, command) as host:
            host.send(_OPENING)
            host.send({"type": "thread.create", "submissionId": new_id()})
            host.until("command.ack")
            return (time.perf_counter() - host.started) * 1000

    def nothing() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True, env=dict(os.environ))
        return (time.perf_counter() - started) * 1000

    measures = {
        "host": lambda: initialized(command),
        "empty": lambda: initialized(empty),
        "python": nothing,
        "ack": acknowledged,
    }
    in_turns(measures, 2)
    found = in_turns(measures, 3 * rounds)
    return [
        at_most("P10", "start to initialized", "ms", found["host"], found["python"], "python -c pass", 1.5),
        at_most("P10", "start to initialized", "ms", found["host"], found["empty"], "an empty host", 1.2),
        at_most("P10", "start to first acknowledgement", "ms", found["ack"], found["python"], "python -c pass", 5),
    ]


_OPENING = {
    "type": "initialize",
    "submissionId": "0198a0c0-0000-7000-8000-000000000001",
    "protocol": "sidekeep/1",
    "schemaHash": "*",
    "clientId": "0198a0c0-0000-7000-8000-000000000002",
}
