"""kill -9 of real processes while a model speaks: the host's is not noticed by the answer, the runner's is told."""

import os
import random
import signal
import time
from typing import Any

import pytest

from runner.conftest import Talk
from support.hostclient import HostClient
from support.runners import kill_runner, lives, log_of, processes_of, runner_of, shown, until
from support.steered import Steered
from support.stores import text

WORDS = [f"word{number} " for number in range(400)]
WHOLE = "".join(WORDS)


def stream_of(host: HostClient, turn: str, begin: str = "", after: int = 0) -> str:
    """What a panel has on the screen: the snapshot's text, then every delta with a higher number, each once."""
    shown_text, last = begin, after
    for event in host.seen("item.delta", turnId=turn):
        if event["seq"] > last:
            assert event["seq"] == last + 1, f"after {last} came {event['seq']}"
            shown_text, last = shown_text + event["delta"].get("text", ""), event["seq"]
    return shown_text


def test_a_killed_host_is_not_noticed_by_the_answer(talk: Talk, far: Steered) -> None:
    """The new port gets the text so far and goes on by number: no delta lost, none twice (E38)."""
    far.steady(WORDS, 0.02)
    ack = talk.submit("Tell")
    runner = until(lambda: runner_of(talk.store.state), "runner")
    for round_ in range(4):
        talk.host.until(lambda events: sum(e["type"] == "item.delta" for e in events) >= 8, "some deltas")
        talk.host.kill()
        talk.host = talk.store.open(subscribe=talk.thread)
        snapshot = talk.host.event("thread.snapshot")
        active = snapshot["activeTurn"]
        assert active is not None, round_
        assert (active["runId"], active["turnId"]) == (ack["runId"], ack["turnId"])
        (item,) = active["items"]
        assert WHOLE.startswith(item["text"])
    end = talk.host.event("turn.complete", runId=ack["runId"])
    assert end["stopReason"] == "end"
    assert stream_of(talk.host, ack["turnId"], item["text"], item["seq"]) == WHOLE
    assert {event["itemId"] for event in talk.host.seen("item.delta")} == {item["itemId"]}
    assert shown(talk.snapshot()) == [("user", "Tell"), ("assistant", WHOLE)]
    assert runner_of(talk.store.state) == runner
    assert len(far.calls) == 1


def test_an_answer_goes_on_while_no_host_lives(talk: Talk, far: Steered) -> None:
    """Closing the browser stops nothing: the finished answer is there at the next start."""
    talk.submit("Tell")
    call = far.call()
    call.say("Once ")
    talk.host.event("item.delta")
    talk.host.close()
    call.say("upon a time")
    call.end()
    talk.host = talk.store.open(subscribe=talk.thread)
    until(lambda: talk.snapshot()["activeTurn"] is None, "end of the turn")
    snapshot = talk.snapshot()
    assert shown(snapshot) == [("user", "Tell"), ("assistant", "Once upon a time")]
    assert snapshot["thread"]["status"] in ("done", "idle")


def test_a_killed_runner_is_told_within_three_seconds(talk: Talk, far: Steered) -> None:
    """Its death is heard at once; the text on the screen is the partial text; resumed, the call is made again."""
    second = talk.store.open(subscribe=talk.thread)
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once upon")
    for host in (talk.host, second):
        host.event("item.delta")
    pid = until(lambda: runner_of(talk.store.state), "runner")
    begun = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    for host in (talk.host, second):
        assert host.event("run.recovery_required", timeout=3)["runId"] == ack["runId"]
    took = time.monotonic() - begun
    assert took < 3
    assert call.gone.wait(2)
    for host in (talk.host, second):
        snapshot = host.query("thread.subscribe", threadId=talk.thread)
        assert snapshot["thread"]["status"] == "interrupted"
        assert snapshot["recoverable"][0]["partialText"] == "Once upon"
    second.ack("run.resume", threadId=talk.thread, runId=ack["runId"])
    call = far.call()
    assert call.said == [("user", "Tell")]
    call.say("There was a bee.")
    call.end()
    for host in (talk.host, second):
        assert host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    assert shown(talk.snapshot()) == [("user", "Tell"), ("assistant", "There was a bee.")]
    assert talk.snapshot()["thread"]["stats"]["turns"] == 1


def test_three_deaths_in_a_row_and_it_is_failed(talk: Talk, far: Steered) -> None:
    """Resumed twice, dead three times: it is not offered again, its last words are kept, the next turn works."""
    ack = talk.submit("Tell")
    for number in (1, 2, 3):
        call = far.call()
        call.say(f"Try {number}")
        talk.host.event("item.delta", where=lambda e, n=number: e["delta"] == {"text": f"Try {n}"})
        kill_runner(talk.store.state)
        if number < 3:
            talk.host.event("run.recovery_required", timeout=3)
            talk.host.ack("run.resume", threadId=talk.thread, runId=ack["runId"])
    end = talk.host.event("turn.complete", runId=ack["runId"], timeout=3)
    assert (end["stopReason"], end["error"]["code"]) == ("error", "internal")
    snapshot = talk.snapshot()
    assert (snapshot["thread"]["status"], snapshot["recoverable"]) == ("failed", [])
    assert shown(snapshot) == [("user", "Tell"), ("assistant", "Try 3")]
    assert talk.host.refused("run.resume", threadId=talk.thread, runId=ack["runId"])["code"] == "conflict"
    again = talk.submit("Again")
    call = far.call()
    call.say("Fine")
    call.end()
    assert talk.host.event("turn.complete", runId=again["runId"])["stopReason"] == "end"


def test_told_to_stop_it_hands_over_and_the_answer_begins_anew(talk: Talk, far: Steered) -> None:
    """A shutdown in good order: nobody has to resume anything."""
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once upon")
    talk.host.event("item.delta")
    kill_runner(talk.store.state, signal.SIGTERM)
    assert call.gone.wait(2)
    call = far.call()
    call.say("There was a bee.")
    call.end()
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
    assert talk.host.seen("run.recovery_required") == []
    assert shown(talk.snapshot()) == [("user", "Tell"), ("assistant", "There was a bee.")]
    items = [event["itemId"] for event in talk.host.seen("item.start")]
    assert len(set(items)) == 2
    assert "handed_over" not in log_of(talk.store.state)


@pytest.mark.model
def test_the_worker_of_the_local_model_ends_with_its_runner(talk: Talk) -> None:
    """Killed in the middle of an answer it leaves no process that goes on burning the processor."""
    talk.host.ack(
        "turn.submit", threadId=talk.thread, input={"content": [{"type": "text", "text": "Write a long story."}]}
    )
    talk.host.event("item.delta", timeout=60, where=lambda e: "text" in e["delta"])
    runner = until(lambda: runner_of(talk.store.state), "runner")
    children = [pid for pid, line in processes_of(talk.store.state) if "local_worker" in line]
    assert len(children) == 1
    os.kill(runner, signal.SIGKILL)
    talk.host.event("run.recovery_required", timeout=3)
    until(lambda: not any(lives(pid) for pid in children), "end of the worker", 5)
    (entry,) = talk.snapshot()["recoverable"]
    written = "".join(e["delta"].get("text", "") for e in talk.host.seen("item.delta"))
    assert entry["partialText"] == written


def test_killed_around_the_last_commit_the_answer_is_there_once(talk: Talk, far: Steered) -> None:
    """Whether the commit took hold or not: one answer, whole, by one run, and never two."""
    moments = random.Random(7)
    ends = {"completed": 0, "interrupted": 0}
    for number in range(24):
        ack = talk.submit(f"question {number}")
        call = far.call()
        call.say("All of it")
        talk.host.event("item.delta", turnId=ack["turnId"])
        pid = until(lambda: runner_of(talk.store.state), "runner")
        call.end()
        _pass(moments.uniform(0, 0.006))
        os.kill(pid, signal.SIGKILL)

        def ended(run: object = ack["runId"]) -> str | None:
            state = talk.host.query("run.get", runId=run)["run"]["state"]
            return state if state in ends else None

        state = until(ended, "end of what the dead runner did", 3)
        ends[state] += 1
        if state == "interrupted":
            (entry,) = talk.snapshot()["recoverable"]
            assert entry["partialText"] == "All of it"
            talk.host.ack("run.resume", threadId=talk.thread, runId=ack["runId"])
            call = far.call()
            call.say("All of it")
            call.end()
        talk.host.event("turn.complete", runId=ack["runId"])
        assert shown(talk.snapshot())[-2:] == [("user", f"question {number}"), ("assistant", "All of it")]
    assert len(shown(talk.snapshot())) == 48
    assert len(talk.host.seen("turn.complete")) == 24


def _pass(seconds: float) -> None:
    """The moment of the kill, in less than a sleep can measure."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_fifty_kills_by_turns(talk: Talk, far: Steered) -> None:
    """The bar: each acknowledged command there exactly once and answered alike when sent again, no answer of a living
    runner disturbed by a dead host, nothing `running` 3 s after its runner died, nothing left in the end (E12, E36)."""
    pieces = WORDS[:40]
    far.steady(pieces, 0.01)
    client = talk.host.client_id
    sent: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    runs: dict[str, str] = {}
    moments = random.Random(20260101)
    ends = {"completed": 0, "interrupted": 0}

    def command(op: str, **members: Any) -> dict[str, Any]:
        members["submissionId"] = f"00000000-0000-4000-8000-{len(sent):012d}"
        answer = talk.host.ack(op, **members)
        sent.append((op, members, answer))
        return answer

    def state(run: str) -> str:
        return str(talk.host.query("run.get", runId=run)["run"]["state"])

    def deltas(turn: str) -> int:
        return len(talk.host.seen("item.delta", turnId=turn))

    for number in range(50):
        words = f"question {number}"
        ack = command("turn.submit", threadId=talk.thread, input=text(words), overrides=far.overrides)
        run, turn = ack["runId"], ack["turnId"]
        runs[run] = words
        # At any moment of the answer, now and then after its last word: around the commit.
        enough = moments.choice((1, 5, 10, 20, 30))
        until(
            lambda run=run, turn=turn, enough=enough: deltas(turn) >= enough or state(run) == "completed",
            "part of an answer",
            10,
        )
        runner = until(lambda: runner_of(talk.store.state), "runner")
        if number % 2 == 0:
            talk.host.kill()
            talk.host = talk.store.open(client_id=client, subscribe=talk.thread)
            until(lambda run=run: state(run) == "completed", "end of an answer that no host disturbed")
            assert runner_of(talk.store.state) == runner
        else:
            kill_runner(talk.store.state)
            until(lambda run=run: state(run) in ends, "end of what the dead runner did", 3)
            ends[state(run)] += 1
            if state(run) == "interrupted":
                command("run.resume", threadId=talk.thread, runId=run)
                until(lambda run=run: state(run) == "completed", "end of the resumed answer")
        # What was asked before is answered as it was, by whichever process.
        for op, members, answer in sent[-3:]:
            assert talk.host.ask(op, **members) == answer

    for op, members, answer in sent:
        assert talk.host.ask(op, **members) == answer
    snapshot = talk.snapshot()
    told = shown(snapshot)
    assert [said for who, said in told if who == "user"] == list(runs.values())
    assert [said for who, said in told if who == "assistant"] == ["".join(pieces)] * 50
    assert [state(run) for run in runs] == ["completed"] * 50
    assert snapshot["thread"]["stats"]["turns"] == 50
    assert ends["interrupted"] >= 15, ends
    talk.store.close()
    assert processes_of(talk.store.state) == []
