"""The product's store, driven as the host drives it: ops in, groups committed, answers out; time and ids held still."""

import json
from collections.abc import Callable
from typing import Any

import apsw

from sidekeep.commands.context import Context
from sidekeep.host.dispatch import handler
from sidekeep.host.request import COMMAND, Request
from sidekeep.model.errors import SidekeepError
from sidekeep.model.ids import IdSource, new_id
from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway, Unit
from sidekeep.store.opener import Store, open_store
from sidekeep.store.receipts import Identity
from sidekeep.store.tx import Tx

CLIENT = "laboratory"
START_MS = 1_800_000_000_000
Op = dict[str, Any]
Answer = dict[str, Any]


class Clock:
    """Stands at a known time and moves a little with every look."""

    def __init__(self, start: int = START_MS) -> None:
        self.now = start

    def __call__(self) -> int:
        self.now += 7
        return self.now


def make_ids(seed: int) -> IdSource:
    """The same ids in every run with the same seed."""
    state = seed & 0xFFFF_FFFF_FFFF_FFFF

    def entropy(count: int) -> bytes:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFF_FFFF_FFFF_FFFF
        return state.to_bytes(16, "big")[-count:] if count <= 8 else state.to_bytes(8, "big") * 2

    return IdSource(Clock(), entropy)


class Product:
    """One process of the product: an open store and its doorway."""

    def __init__(
        self,
        places: Places,
        *,
        vfs: str | None = None,
        seed: int | None = 1,
        clock: Callable[[], int] | None = None,
        answered: Callable[[list[Op], list[Answer]], None] = lambda _ops, _answers: None,
    ) -> None:
        """`seed` makes the ids (None: as the product makes them). `answered` is called with each group's ops and
        answers, when a host would write them."""
        self.places = places
        self.store: Store = open_store(places, vfs=vfs)
        self.lines: list[str] = []
        self.clock = clock or Clock()
        self.doorway = Doorway(self.store, self.clock, new_id if seed is None else make_ids(seed), self.lines.append)
        self._answered = answered

    def group(self, ops: list[Op]) -> list[Answer]:
        """Commit the ops as one group (or one by one where the doorway finds that they have to)."""
        requests = [request_of(op) for op in ops]
        units = [self._unit(request) for request in requests]
        self.doorway.run_group([unit for unit in units if unit is not None])
        answers = [_answer(op, request, unit) for op, request, unit in zip(ops, requests, units, strict=True)]
        self._answered(ops, answers)
        return answers

    def do(self, op: Op) -> Answer:
        """One op alone."""
        return self.group([op])[0]

    def query(self, op: Op) -> Any:
        """What a query finds. Raises the product's errors."""
        request = request_of(op)
        assert request.error is None, request.error
        found = handler(request.name)(self.tx(), request.op, self._context(request))
        return json.loads(_plain(found))

    def unit(self, decide: Callable[[Tx], Any]) -> Any:
        """A transaction of the runner's kind, without receipt."""
        return self.doorway.run(decide)

    def idle(self) -> None:
        """What the host does when nothing is to do."""
        self.doorway.allocate_log()
        self.doorway.checkpoint()

    def tx(self) -> Tx:
        return Tx(self.store.db, self.clock.now if isinstance(self.clock, Clock) else 0, lambda: "")

    def close(self) -> None:
        self.store.close()

    def abandon(self) -> None:
        """Close what a dead process leaves open; whatever SQLite still tries fails, and that is all right."""
        import os

        for db in (*self.store.readers, self.store.db):
            try:
                db.close(True)
            except apsw.Error:
                continue
        os.close(self.store.schema_lock)

    def _context(self, request: Request) -> Context:
        return Context(request.client_id, request.submission_id or "", request.plain, self.places, lambda _n, _v: b"")

    def _unit(self, request: Request) -> Unit | None:
        if request.error is not None:
            return None
        assert request.kind == COMMAND, request.name
        context, decide, op = self._context(request), handler(request.name), request.op
        identity = Identity(request.client_id, context.submission_id, request.name, request.fingerprint)
        return Unit(lambda tx: decide(tx, op, context), identity, size=request.size)


def request_of(op: Op) -> Request:
    """The op as the host's reading thread makes it, from bytes."""
    return Request(json.dumps(op, ensure_ascii=False).encode("utf-8", "surrogatepass"), CLIENT)


def _plain(found: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(found)


def _answer(op: Op, request: Request, unit: Unit | None) -> Answer:
    error: SidekeepError | None = request.error if unit is None else unit.error
    if unit is not None and unit.response is not None:
        answer: Answer = json.loads(unit.response)
        answer["_text"] = unit.response
        answer["_replayed"] = unit.replayed
        return answer
    assert error is not None, f"{op['type']} has no outcome"
    return {
        "type": "command.rejected",
        "submissionId": op.get("submissionId"),
        "code": error.code,
        "message": error.message,
        "retryable": error.retryable,
    }
