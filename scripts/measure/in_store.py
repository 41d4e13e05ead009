"""P7 and P8: the list of threads through a host's pipe, and what a model reads, in this process."""

import contextlib
import time
from pathlib import Path

import apsw
import msgspec

from measure.filled import many_threads, opened, thread_of
from measure.pipe import PipeHost
from measure.rounds import Figure, at_most, in_turns
from sidekeep.model.clock import now_ms
from sidekeep.model.ids import new_id
from sidekeep.model.payloads import BY_TYPE
from sidekeep.store.path import path_to
from sidekeep.store.reading import reading
from sidekeep.store.threads import listing
from sidekeep.store.tx import Tx
from sidekeep.turns.context import session_context

PAGE = 100


def p7(folder: Path, rounds: int) -> list[Figure]:
    """A page of the list in a store of many threads against few, and against a plain read of the rows."""
    states = {"many": (folder / "p7-many", 100_000), "few": (folder / "p7-few", 1000)}
    for state, count in states.values():
        store, doorway = opened(state)
        many_threads(doorway, count)
        database = store.places.database
        store.close()
        if count > 1000:
            large = database
    with contextlib.ExitStack() as stack:
        hosts = {name: stack.enter_context(PipeHost(state)) for name, (state, _) in states.items()}
        raw = stack.enter_context(contextlib.closing(apsw.Connection(large)))
        for host in hosts.values():
            host.open()

        def page(name: str) -> float:
            started = time.perf_counter()
            answer = hosts[name].ask({"type": "thread.list", "limit": PAGE})
            assert len(answer["data"]["threads"]) == PAGE
            return (time.perf_counter() - started) * 1000

        measures = {"many": lambda: page("many"), "few": lambda: page("few")}
        in_turns(measures, 5)
        piped = in_turns(measures, 8 * rounds)

        store, _ = opened(states["many"][0])

        def listed() -> float:
            started = time.perf_counter()
            tx = Tx(store.db, now_ms(), new_id)
            with reading(tx):
                assert len(listing(tx, limit=PAGE)["threads"]) == PAGE
            return (time.perf_counter() - started) * 1000

        def rows() -> float:
            started = time.perf_counter()
            assert len(raw.execute(_ROWS, (PAGE,)).fetchall()) == PAGE
            return (time.perf_counter() - started) * 1000

        inside = {"listed": listed, "rows": rows}
        in_turns(inside, 5)
        found = in_turns(inside, 8 * rounds)
        store.close()
    return [
        at_most("P7", "page of 100 of 100,000 threads", "ms", piped["many"], piped["few"], "of 1,000", 1.5),
        at_most("P7", "page of 100 of 100,000 threads", "ms", found["listed"], found["rows"], "raw read", 5),
    ]


_ROWS = """
SELECT t.*, (SELECT id FROM nodes WHERE k = t.leaf) FROM threads t
WHERE deleted_at IS NULL AND archived = 0 ORDER BY updated_at DESC, id DESC LIMIT ?
"""


def p8(folder: Path, rounds: int) -> list[Figure]:
    """The context of a path of 1,000 nodes against decoding its payloads."""
    store, doorway = opened(folder / "p8")
    thread = thread_of(doorway, 1000, 0)
    tx = Tx(store.db, now_ms(), new_id)
    row = tx.thread(thread)
    assert row is not None
    decoders = {kind: msgspec.json.Decoder(struct) for kind, struct in BY_TYPE.items()}
    nodes = [(node.type, node.payload) for node in path_to(tx, row.leaf)]
    assert len(nodes) == 1000

    def context() -> float:
        started = time.perf_counter()
        with reading(Tx(store.db, now_ms(), new_id)) as view:
            assert len(session_context(view, row.leaf).messages) == 1000
        return (time.perf_counter() - started) * 1000

    def decoded() -> float:
        started = time.perf_counter()
        for kind, payload in nodes:
            decoders[kind].decode(payload)
        return (time.perf_counter() - started) * 1000

    measures = {"context": context, "decoded": decoded}
    in_turns(measures, 3)
    found = in_turns(measures, 8 * rounds)
    store.close()
    return [at_most("P8", "context of 1,000 nodes", "ms", found["context"], found["decoded"], "decoding alone", 3)]
