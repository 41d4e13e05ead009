"""What the next runner makes of the runs that a dead one left, state by state.

The test itself is the runner that dies: it holds the lock, moves the run with the product's own transactions, writes
the live file as the contract has it, and lets go at the moment that is to be looked at.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sidekeep.model.places import Places
from sidekeep.store import runs
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx
from sidekeep.turns import finish, steps
from sidekeep.turns.claim import claim
from sidekeep.turns.held import Held, rows_of
from sidekeep.turns.progress import Call
from sidekeep.turns.tools.descriptor import Outcome
from support.hostclient import HostClient
from support.runners import log_of, shown, until
from support.stores import Store, text

EXTRACT = {"model": {"connectionId": "extract", "modelId": "extract"}}
ANSWER = "Extract (no model used): there is no attached text to take sentences from."


class Dying:
    """The runner that this test is."""

    def __init__(self, store: Store, doorway: Doorway) -> None:
        self.store = store
        self.write = doorway.run

    def claims(self, run_id: str) -> Held:
        held = self.write(lambda tx: claim(tx, run_id, "claim", watched=False))
        assert isinstance(held, Held)
        return held

    def streams(self, held: Held) -> None:
        self.moves(held, "streaming_model")

    def moves(self, held: Held, state: str) -> None:
        self.write(lambda tx: runs.set_state(tx, rows_of(tx, held)[0], state, move="test"))

    def says(self, held: Held, *lines: dict[str, Any], torn: str = "") -> None:
        path = self.store.state / "live" / f"{held.run_id}.{held.attempt}"
        whole = "".join(json.dumps({"n": n, **line}) + "\n" for n, line in enumerate(lines, 1))
        path.write_text(whole + torn, "utf-8")


@contextmanager
def dying(store: Store) -> Iterator[Dying]:
    """Until the end of the block a runner lives; then it is dead."""
    opened = open_store(Places(str(store.state)))
    try:
        yield Dying(store, Doorway(opened))
    finally:
        opened.close()
    store.let_runner_go()


def submitted(store: Store, words: str = "Hello") -> tuple[HostClient, str, dict[str, Any]]:
    host = store.open()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    return host, thread, host.ack("turn.submit", threadId=thread, input=text(words), overrides=EXTRACT)


def said(item: str, *pieces: str) -> list[dict[str, Any]]:
    start = {"itemId": item, "start": {"kind": "assistant_message", "meta": {}}}
    return [start, *({"itemId": item, "text": piece} for piece in pieces)]


def run_of(host: HostClient, ack: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = host.query("run.get", runId=ack["runId"])["run"]
    return found


def test_a_run_that_was_preparing_goes_on_by_itself(store: Store) -> None:
    """Nothing has had effect: it begins again, as another attempt of the same turn, under the same environment."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    assert len(host.seen("turn.start", runId=ack["runId"], turnId=ack["turnId"])) == 2
    run = run_of(host, ack)
    assert (run["state"], run["attempt"]) == ("completed", 2)
    assert run["environment"]["digest"] == held.environment["digest"]
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert [who for who, _ in shown(snapshot)] == ["user", "assistant"]
    kinds = [e["node"]["type"] for e in host.seen("thread.node")]
    assert kinds == ["user_message", "turn_context", "assistant_message"]


def test_a_stream_becomes_interrupted_and_its_text_is_kept(store: Store) -> None:
    """What was on the screen is in `partialText`, the torn last line is not; `run.resume` makes the call again."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "Once ", "upon \u8702"), torn='{"n":4,"itemId":"i1","text":" a ti')
        host.event("item.delta", where=lambda e: e["delta"] == {"text": "upon \u8702"})
    told = host.event("run.recovery_required", timeout=3)
    assert (told["threadId"], told["runId"]) == (thread, ack["runId"])
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert snapshot["thread"]["status"] == "interrupted"
    assert snapshot["activeTurn"] is None
    assert snapshot["recoverable"] == [
        {
            "runId": ack["runId"],
            "turnId": ack["turnId"],
            "state": "interrupted",
            "reason": "interrupted",
            "partialText": "Once upon \u8702",
        }
    ]
    assert run_of(host, ack)["partialText"] == "Once upon \u8702"
    assert shown(snapshot) == [("user", "Hello")]
    until(lambda: not list((store.state / "live").iterdir()), "removal of the live file", 3)

    resumed = {"submissionId": "00000000-0000-4000-8000-000000000001", "threadId": thread, "runId": ack["runId"]}
    assert host.ack("run.resume", **resumed) == host.ack("run.resume", **resumed)
    end = host.event("turn.complete", runId=ack["runId"])
    assert (end["turnId"], end["stopReason"]) == (ack["turnId"], "end")
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert snapshot["recoverable"] == []
    assert snapshot["thread"]["status"] in ("idle", "done")
    (asked, answered) = shown(snapshot)
    assert asked == ("user", "Hello")
    assert answered[1].startswith(ANSWER)
    second = [e["itemId"] for e in host.seen("item.start", turnId=ack["turnId"])]
    assert len(second) == 2
    assert second[0] == "i1" != second[1]


def test_going_on_without_resuming_commits_the_partial_text_first(store: Store) -> None:
    """The next message stands under what the user had read; after it `run.resume` is a conflict."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "Once upon"))
    host.event("run.recovery_required")
    again = host.ack("turn.submit", threadId=thread, input=text("Go on"), overrides=EXTRACT)
    host.event("turn.complete", runId=again["runId"])
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert shown(snapshot)[:3] == [("user", "Hello"), ("assistant", "Once upon"), ("user", "Go on")]
    assert snapshot["nodes"][1]["payload"]["stopReason"] == "interrupted"
    assert snapshot["nodes"][1]["payload"]["model"] == "extract"
    assert snapshot["recoverable"] == []
    refused = host.refused("run.resume", threadId=thread, runId=ack["runId"])
    assert (refused["code"], refused["retryable"]) == ("conflict", False)


def test_a_stream_that_had_said_nothing_leaves_nothing_to_show(store: Store) -> None:
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        runner.streams(runner.claims(ack["runId"]))
    host.event("run.recovery_required")
    (entry,) = host.query("thread.subscribe", threadId=thread)["recoverable"]
    assert "partialText" not in entry
    host.ack("turn.submit", threadId=thread, input=text("Go on"), overrides=EXTRACT)
    host.event("turn.complete")
    assert [who for who, _ in shown(host.query("thread.subscribe", threadId=thread))] == ["user", "user", "assistant"]


def test_the_queue_of_a_thread_waits_for_its_interrupted_run(store: Store) -> None:
    """It would else answer on top of half an answer; after `run.resume` both are done, in order."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        runner.streams(runner.claims(ack["runId"]))
        queued = host.ack("turn.enqueue", threadId=thread, input=text("Second"), overrides=EXTRACT)
        elsewhere = host.ack("thread.create")["threadId"]
        other = host.ack("turn.submit", threadId=elsewhere, input=text("Other"), overrides=EXTRACT)
    host.event("run.recovery_required")
    until(lambda: run_of(host, other)["state"] == "completed", "the other thread's turn")
    assert run_of(host, queued)["state"] == "queued"
    host.ack("run.resume", threadId=thread, runId=ack["runId"])
    host.event("turn.complete", runId=ack["runId"])
    host.event("turn.complete", runId=queued["runId"])
    told = shown(host.query("thread.subscribe", threadId=thread))
    assert [said for who, said in told if who == "user"] == ["Hello", "Second"]
    assert [who for who, _ in told] == ["user", "assistant"] * 2


def test_an_interrupt_that_a_dead_runner_did_not_hear_is_honoured(store: Store) -> None:
    """What was said is an interrupted message, nothing is offered to be resumed."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "Once upon"))
        host.ack("turn.interrupt", threadId=thread)
    end = host.event("turn.complete", runId=ack["runId"], timeout=3)
    assert end["stopReason"] == "interrupted"
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert shown(snapshot) == [("user", "Hello"), ("assistant", "Once upon")]
    assert snapshot["nodes"][1]["payload"]["stopReason"] == "interrupted"
    assert (snapshot["thread"]["status"], snapshot["recoverable"]) == ("idle", [])
    assert run_of(host, ack)["state"] == "interrupted"


@pytest.mark.parametrize("state", ["preparing", "streaming_model"])
def test_the_third_death_in_a_row_fails_the_run(store: Store, state: str) -> None:
    """A run that takes its runner with it is not tried for ever; what it had said stays."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        if state == "streaming_model":
            runner.streams(held)
            runner.says(held, *said("i1", "Once upon"))
        runner.write(lambda tx: tx.run("UPDATE runs SET deaths = 2 WHERE id = ?", (held.run_id,)))
    end = host.event("turn.complete", runId=ack["runId"], timeout=3)
    assert end["stopReason"] == "error"
    assert end["error"]["code"] == "internal"
    assert "3 times in a row" in end["error"]["message"]
    assert run_of(host, ack)["state"] == "failed"
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert (snapshot["thread"]["status"], snapshot["recoverable"]) == ("failed", [])
    kept = [("assistant", "Once upon")] if state == "streaming_model" else []
    assert shown(snapshot) == [("user", "Hello"), *kept]


def test_a_run_that_a_host_resumed_is_not_blamed_for_a_death_before_it_began(store: Store) -> None:
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        runner.streams(runner.claims(ack["runId"]))
        runner.write(lambda tx: _interrupted(tx, ack["runId"]))
        host.ack("run.resume", threadId=thread, runId=ack["runId"])
        runner.write(lambda tx: tx.run("UPDATE runs SET deaths = 2 WHERE id = ?", (ack["runId"],)))
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"


def _interrupted(tx: Tx, run_id: str) -> None:
    run = runs.get(tx, run_id)
    thread = tx.thread_by_key(run.thread)
    assert thread is not None
    finish.interrupt_for_recovery(tx, thread, run, finish.Said(text="Once"))


def test_a_run_that_was_handed_over_goes_on(store: Store) -> None:
    """An older version left it in good order: no death is counted, nobody has to resume it."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "Once upon"))
        runner.write(lambda tx: tx.run("UPDATE runs SET deaths = 2 WHERE id = ?", (held.run_id,)))
        runner.moves(held, "handed_over")
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    assert host.seen("run.recovery_required") == []
    assert len(shown(host.query("thread.subscribe", threadId=thread))) == 2


ACT = "00000000-0000-4000-8000-0000000000ac"


def acting(runner: Dying, run_id: str) -> None:
    """The model has asked for a tool that must not act twice, and it has begun."""
    held = runner.claims(run_id)
    call = Call(ACT, "send_letter", "{}")
    message = finish.Said(text="I send it", model="extract", connection_id="extract", items=["i1"])

    def called(tx: Tx) -> None:
        run, row = rows_of(tx, held)
        node = "00000000-0000-4000-8000-0000000000ab"
        steps.called(tx, row, run, "called", message, [call], node_id=node)
        steps.acting_now(tx, run, "acting", ACT)

    runner.write(called)


@pytest.mark.parametrize(
    ("resolution", "ok", "words"),
    [("mark_done", True, "it was done"), ("fail", False, "it was not done"), ("retry", False, "There is no tool")],
)
def test_an_act_whose_result_nobody_knows_waits_for_the_user(
    store: Store, resolution: str, ok: bool, words: str
) -> None:
    """It may have been done: nobody does it twice without being asked. What the user says of it is its result."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        acting(runner, ack["runId"])
    assert host.event("run.recovery_required")["runId"] == ack["runId"]
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert snapshot["thread"]["status"] == "needs_input"
    (entry,) = snapshot["recoverable"]
    assert (entry["state"], entry["reason"], entry["tool"]) == ("paused_uncertain", "uncertain", "send_letter")
    members = {"threadId": thread, "runId": ack["runId"], "resolution": resolution}
    host.ack("run.resolveUncertain", **members)
    host.event("turn.complete", runId=ack["runId"])
    (result,) = [n for n in host.query("thread.subscribe", threadId=thread)["nodes"] if n["type"] == "tool_result"]
    assert result["payload"]["ok"] is ok
    assert words in result["payload"]["contentForLlm"][0]["text"]
    assert host.refused("run.resolveUncertain", **members)["code"] == "conflict"


@pytest.mark.parametrize("at", ["executing_tool", "streaming_model"])
def test_what_is_on_disk_is_no_partial_text(store: Store, at: str) -> None:
    """Killed between a commit in the middle of a turn and the line that tells of it: the message is there once, as
    the whole that it is."""
    host, thread, ack = submitted(store)
    message, call = "00000000-0000-4000-8000-0000000000aa", Call(ACT, "no_such_tool", "{}")
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.says(held, *said(message, "I look"))
        words = finish.Said(text="I look", model="extract", connection_id="extract", items=[message])

        def called(tx: Tx) -> None:
            run, row = rows_of(tx, held)
            steps.called(tx, row, run, "called", words, [call], node_id=message)

        def answered(tx: Tx) -> None:
            run, row = rows_of(tx, held)
            steps.acted(tx, row, run, "acted", ACT, Outcome(True, "Seen."), 0)

        runner.write(called)
        if at == "streaming_model":
            runner.write(answered)
            runner.moves(held, at)
    if at == "streaming_model":
        host.event("run.recovery_required")
        (entry,) = host.query("thread.subscribe", threadId=thread)["recoverable"]
        assert "partialText" not in entry
        host.ack("run.resume", threadId=thread, runId=ack["runId"])
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    nodes = host.query("thread.subscribe", threadId=thread)["nodes"]
    kinds = ["user_message", "assistant_message", "tool_call", "tool_result", "assistant_message"]
    assert [node["type"] for node in nodes] == kinds
    assert next(words for who, words in shown({"nodes": nodes}) if who == "assistant") == "I look"


def test_a_run_that_ended_is_left_alone(store: Store) -> None:
    """Killed between the last commit and the line that tells of it: the answer is there once, and nothing else."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "All of it"))
        node = "00000000-0000-4000-8000-0000000000aa"
        all_of_it = finish.Said(text="All of it", model="extract", connection_id="extract", items=["i1"])

        def complete(tx: Tx) -> None:
            run, row = rows_of(tx, held)
            finish.complete(tx, row, run, "end", all_of_it, "end", node_id=node, watched=True)

        runner.write(complete)
    assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    assert host.event("item.complete", itemId="i1")["nodeId"] == node
    other = host.ack("thread.create")["threadId"]
    after = host.ack("turn.submit", threadId=other, input=text("Other"), overrides=EXTRACT)
    until(lambda: run_of(host, after)["state"] == "completed", "the next runner's work")
    assert not (store.state / "live" / f"{ack['runId']}.1").exists()
    assert host.seen("run.recovery_required") == []
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert shown(snapshot) == [("user", "Hello"), ("assistant", "All of it")]
    assert run_of(host, ack)["attempt"] == 1


def test_a_thread_that_was_deleted_meanwhile_gets_nothing_more(store: Store) -> None:
    """Its fence moved: the dead attempt's text goes nowhere, and the restored thread is as it was."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "Once upon"))
        host.ack("thread.delete", threadId=thread)
        other = host.ack("thread.create")["threadId"]
        after = host.ack("turn.submit", threadId=other, input=text("Other"), overrides=EXTRACT)
    until(lambda: run_of(host, after)["state"] == "completed", "the next runner's work")
    host.ack("thread.restore", threadId=thread)
    snapshot = host.query("thread.subscribe", threadId=thread)
    assert shown(snapshot) == [("user", "Hello")]
    assert (snapshot["activeTurn"], snapshot["recoverable"]) == (None, [])
    assert snapshot["thread"]["status"] in ("idle", "interrupted")


def test_a_purged_thread_does_not_stop_the_others(store: Store) -> None:
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        runner.streams(runner.claims(ack["runId"]))
        host.ack("thread.delete", threadId=thread, purge=True)
        other = host.ack("thread.create")["threadId"]
        after = host.ack("turn.submit", threadId=other, input=text("Other"), overrides=EXTRACT)
    until(lambda: run_of(host, after)["state"] == "completed", "the next runner's work")
    assert host.refused("run.get", runId=ack["runId"])["code"] == "not_found"


def test_no_host_lives_at_the_death_and_the_next_one_finds_it(store: Store) -> None:
    """Within 3 s of the start of a host nothing says `running` that nobody runs (E39)."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        held = runner.claims(ack["runId"])
        runner.streams(held)
        runner.says(held, *said("i1", "Once upon"))
        host.kill()
    host = store.open(subscribe=thread)
    host.event("thread.snapshot")
    until(lambda: run_of(host, ack)["state"] == "interrupted", "interrupted run", 3)
    (entry,) = host.query("thread.subscribe", threadId=thread)["recoverable"]
    assert entry["partialText"] == "Once upon"


def test_a_damaged_environment_is_refused_and_said(store: Store) -> None:
    """Someone altered what the run was started under: it does not go on, and the others do."""
    host, thread, ack = submitted(store)
    with dying(store) as runner:
        runner.claims(ack["runId"])
        altered = "UPDATE runs SET environment = replace(environment, 'extract', 'elsewhere') WHERE id = ?"
        runner.write(lambda tx: tx.run(altered, (ack["runId"],)))
    end = host.event("turn.complete", runId=ack["runId"])
    assert (end["stopReason"], end["error"]["code"]) == ("error", "snapshot_invalid")
    assert host.query("thread.subscribe", threadId=thread)["thread"]["status"] == "failed"
    again = host.ack("turn.submit", threadId=thread, input=text("Again"), overrides=EXTRACT)
    assert host.event("turn.complete", runId=again["runId"])["stopReason"] == "end", log_of(store.state)
