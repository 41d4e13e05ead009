"""S4: what a command costs in one thread while four others are being answered."""

import json
import statistics
import time
from pathlib import Path

from measure.pipe import PipeHost, append
from measure.rounds import Figure, at_most, in_turns
from measure.two_ends import speaking
from sidekeep.model.ids import new_id

THREADS = 4
COMMANDS = 60


def s4(folder: Path, rounds: int) -> list[Figure]:
    """Median wait for a durable append, with four answers streaming on the same port, against none."""
    with speaking() as address, PipeHost(folder / "s4") as host:
        host.open()
        connection = {"id": "talker", "name": "Talker", "kind": "openai", "baseUrl": address, "modelIds": ["talk"]}
        host.ask({"type": "connection.save", "connection": {**connection, "enabled": True}})
        model = {"connectionId": "talker", "modelId": "talk"}
        host.ask({"type": "settings.set", "patch": {"models.default": model, "titles.model": False}})
        quiet = host.ask({"type": "thread.create", "title": "Quiet"})["threadId"]
        talking = [host.ask({"type": "thread.create", "title": "Talk"})["threadId"] for _ in range(THREADS)]
        for thread in talking:
            host.ask({"type": "thread.subscribe", "threadId": thread})

        def alone() -> float:
            return statistics.median(_waits(host, quiet))

        def beside_four() -> float:
            for thread in talking:
                content = {"content": [{"type": "text", "text": "Talk to me."}]}
                host.ask({"type": "turn.submit", "threadId": thread, "input": content})
            _all(host, b'{"type":"item.delta"')
            waits = _waits(host, quiet)
            for thread in talking:  # sent, not asked: nothing that comes meanwhile is passed over
                host.send({"type": "turn.interrupt", "submissionId": new_id(), "threadId": thread})
            _all(host, b'{"type":"turn.complete"')
            return statistics.median(waits)

        found = in_turns({"alone": alone, "beside": beside_four}, rounds)
    what = "append while four threads stream, median"
    return [at_most("S4", what, "ms", found["beside"], found["alone"], "while none does", 2)]


def _waits(host: PipeHost, thread: str) -> list[float]:
    """Milliseconds to each acknowledgement, one command after the other."""
    waits = []
    for _ in range(COMMANDS):
        begun = time.perf_counter()
        host.ask(append(thread))
        waits.append((time.perf_counter() - begun) * 1000)
    return waits


def _all(host: PipeHost, beginning: bytes) -> None:
    """Until an event of this kind has come for each of the talking threads."""
    seen: set[str] = set()
    while len(seen) < THREADS:
        seen |= {json.loads(body)["threadId"] for body in host.frames() if body.startswith(beginning)}
