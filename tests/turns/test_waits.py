"""Approvals and questions as rows: deadlines, first decisions, claims, and permissions that end with idleness."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidekeep.model.places import Places
from sidekeep.store import approvals, browser_requests, grants, interactions, runs, threads, tree
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx

MINUTE = 60_000
HOUR = 60 * MINUTE


class Bench:
    """A store with one run, and a clock that the test moves."""

    def __init__(self, state: Path) -> None:
        self.now = 1_700_000_000_000
        self.store = open_store(Places(str(state)))
        self.doorway = Doorway(self.store, clock=lambda: self.now)
        self.thread_id = ""
        self.run_id = ""
        self.do(self._make)

    def _make(self, tx: Tx) -> None:
        self.thread_id = threads.create(tx, {}).id
        thread = tx.thread(self.thread_id)
        assert thread is not None
        run = runs.admit(tx, thread, client_id="c", submission_id="s", turn_input={"content": []})
        self.run_id = run.id

    def do(self, decide: object) -> object:
        return self.doorway.run(decide)  # type: ignore[arg-type]

    def rows(self, tx: Tx) -> tuple[ThreadRow, RunRow]:
        thread = tx.thread(self.thread_id)
        assert thread is not None
        return thread, runs.get(tx, self.run_id)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """See Bench."""
    found = Bench(tmp_path)
    yield found
    found.store.close()


def test_after_five_minutes_it_is_declined(bench: Bench) -> None:
    """The deadline is stored; at that moment a decision comes too late and the next look declines."""
    approval_id = str(bench.do(lambda tx: approvals.ask(tx, *bench.rows(tx), {"tool": "t"})))
    kept = bench.do(lambda tx: approvals.find(tx, approval_id))
    assert isinstance(kept, approvals.Approval)
    assert kept.deadline_at == bench.now + 5 * MINUTE
    bench.now = kept.deadline_at - 1
    assert bench.do(lambda tx: approvals.expire(tx, *bench.rows(tx))) == 0
    bench.now = kept.deadline_at
    assert bench.do(lambda tx: approvals.decide(tx, bench.thread_id, kept, {"kind": "accept"}, "me")) is False
    assert bench.do(lambda tx: approvals.expire(tx, *bench.rows(tx))) == 1
    late = bench.do(lambda tx: approvals.find(tx, approval_id))
    assert isinstance(late, approvals.Approval)
    assert (late.status, late.decided["kind"], late.decided_by) == ("expired", "decline", "deadline")
    assert bench.do(lambda tx: approvals.expire(tx, *bench.rows(tx))) == 0


def test_the_first_decision_stands(bench: Bench) -> None:
    """Decided by an update that holds only while it is pending."""
    approval_id = str(bench.do(lambda tx: approvals.ask(tx, *bench.rows(tx), {"tool": "t"})))
    seen = bench.do(lambda tx: approvals.find(tx, approval_id))
    assert isinstance(seen, approvals.Approval)
    assert bench.do(lambda tx: approvals.decide(tx, bench.thread_id, seen, {"kind": "decline"}, "one")) is True
    assert bench.do(lambda tx: approvals.decide(tx, bench.thread_id, seen, {"kind": "accept"}, "two")) is False


def test_an_answer_is_claimed_once(bench: Bench) -> None:
    """Once by a command, once by the run; a time that came counts as an answer that is none."""
    bench.do(lambda tx: interactions.ask(tx, *bench.rows(tx), "item", {"kind": "ask_user"}, None))
    bench.do(lambda tx: interactions.ask(tx, *bench.rows(tx), "wait", {"kind": "wait_until"}, bench.now + MINUTE))

    def of_run(tx: Tx) -> dict[str, interactions.Interaction]:
        return interactions.of_run(tx, bench.rows(tx)[1])

    first = bench.doorway.run(of_run)["item"]
    assert bench.do(lambda tx: interactions.claim(tx, first)) is False
    assert bench.do(lambda tx: interactions.answer(tx, bench.thread_id, first, {"answer": "a"}, "me")) is True
    assert bench.do(lambda tx: interactions.answer(tx, bench.thread_id, first, {"answer": "b"}, "me")) is False
    assert [bench.do(lambda tx: interactions.claim(tx, first)) for _ in range(2)] == [True, False]
    assert bench.doorway.run(of_run)["item"].answer == {"answer": "a"}
    bench.now += MINUTE
    wait = bench.doorway.run(of_run)["wait"]
    assert bench.do(lambda tx: interactions.answer(tx, bench.thread_id, wait, {"continue": True}, "me")) is False
    assert bench.do(lambda tx: interactions.expire(tx, *bench.rows(tx))) == 1
    assert bench.doorway.run(of_run)["wait"].answer is None
    assert bench.do(lambda tx: interactions.claim(tx, wait)) is True


def test_the_browser_is_asked_once_while_its_host_lives(bench: Bench) -> None:
    """A living host keeps its claim, a dead one loses it; 30 s without anybody and the answer is too late."""
    request_id = str(bench.do(lambda tx: browser_requests.ask(tx, *bench.rows(tx), "list_tabs", {})))

    def claimed(instance: str, living: set[str]) -> bool:
        return bench.do(lambda tx: browser_requests.claim(tx, request_id, instance, living.__contains__)) is not None

    assert claimed("one", set()) is True
    assert claimed("two", {"one"}) is False
    assert claimed("one", {"one"}) is False
    assert claimed("two", set()) is True
    other = str(bench.do(lambda tx: browser_requests.ask(tx, *bench.rows(tx), "list_tabs", {})))
    bench.now += 30_000
    late = bench.do(lambda tx: browser_requests.find(tx, other))
    assert isinstance(late, browser_requests.BrowserRequest)
    assert bench.do(lambda tx: browser_requests.answer(tx, late, {"ok": True})) is False


@pytest.mark.parametrize(("idle", "left"), [(12 * HOUR, True), (12 * HOUR + 1, False)])
def test_what_was_allowed_for_the_session_ends_with_idleness(bench: Bench, idle: int, left: bool) -> None:
    """Twelve hours between two messages, not since the permission."""

    def message(tx: Tx) -> int:
        thread = bench.rows(tx)[0]
        return tree.append(tx, thread, thread.leaf, "user_message", {"content": []}).k

    def use(tx: Tx) -> None:
        grants.give(tx, bench.rows(tx)[0].k, "read_page", "https://a.example")

    bench.doorway.run(message)
    bench.doorway.run(use)
    bench.now += idle
    node = bench.doorway.run(message)

    def given(tx: Tx) -> bool:
        key = bench.rows(tx)[0].k
        grants.end_after_idleness(tx, key, node)
        return grants.given(tx, key, "read_page", "https://a.example")

    assert bench.doorway.run(given) is left
