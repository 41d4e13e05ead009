"""Answers while they come: stopped, failed, queued, side by side, and what is sent to the model."""

import time

import pytest

from runner.conftest import Talk
from support.runners import shown, until
from support.steered import MODEL, Steered
from support.stores import text


def test_an_answer_of_an_endpoint_is_kept_with_its_figures(talk: Talk, far: Steered) -> None:
    """Text, usage, cost by the connection's prices, the thread's sums, and a title of the model's own."""
    ack = talk.submit("What is a bee?")
    call = far.call()
    assert call.said == [("user", "What is a bee?")]
    assert call.body["model"] == MODEL
    call.say("An ")
    talk.host.event("item.delta", where=lambda e: e["delta"] == {"text": "An "}, timeout=2)
    call.say("insect.")
    call.end(usage=(100, 20))
    end = talk.host.event("turn.complete", runId=ack["runId"])
    assert end["stopReason"] == "end"
    usage = talk.host.event("token.usage")
    assert usage["usage"] == {"inputTokens": 100, "outputTokens": 20}
    assert usage["costUsd"] == pytest.approx((100 * 1.0 + 20 * 2.0) / 1e6)
    talk.host.event("thread.updated", where=lambda e: e["patch"].get("title") == far.title)
    meta = talk.snapshot()["thread"]
    assert meta["title"] == far.title
    # The title's own tokens (10 + 5) count as well.
    assert meta["stats"]["turns"] == 1
    assert meta["stats"]["totalTokens"] == 135
    assert meta["stats"]["costUsd"] == pytest.approx((110 * 1.0 + 25 * 2.0) / 1e6)
    (naming,) = far.title_calls
    assert "What is a bee?" in naming.said[0][1]
    assert "tools" not in naming.body


def test_a_title_that_a_person_gave_stays(talk: Talk, far: Steered) -> None:
    talk.host.ack("thread.update", threadId=talk.thread, patch={"title": "Mine"})
    for number in range(2):
        talk.submit(f"Question {number}")
        call = far.call()
        call.say("Answer")
        call.end()
        talk.host.event("turn.complete")
    assert talk.snapshot()["thread"]["title"] == "Mine"
    assert far.title_calls == []


@pytest.mark.parametrize("before", [(), ("Once ", "upon")], ids=["silent", "speaking"])
def test_a_stop_is_done_within_200_ms(talk: Talk, far: Steered, before: tuple[str, ...]) -> None:
    """Also of a model that does not say anything: what was said is kept, the request is hung up, the thread is idle."""
    took = []
    for _ in range(5):
        ack = talk.submit("Tell a story")
        call = far.call()
        for piece in before:
            call.say(piece)
        if before:
            talk.host.event("item.delta", where=lambda e: e["delta"].get("text", "").endswith("upon"))
        begun = time.monotonic()
        talk.host.ack("turn.interrupt", threadId=talk.thread)
        end = talk.host.event("turn.complete", runId=ack["runId"])
        took.append(time.monotonic() - begun)
        assert end["stopReason"] == "interrupted"
        assert call.gone.wait(2)
        snapshot = talk.snapshot()
        assert snapshot["thread"]["status"] == "idle"
        last = snapshot["nodes"][-1]
        if before:
            assert shown(snapshot)[-1] == ("assistant", "Once upon")
            assert last["payload"]["stopReason"] == "interrupted"
        else:
            assert last["type"] == "user_message"
    assert max(took) < 0.2, took


def test_a_stop_twice_and_of_nothing_is_acknowledged(talk: Talk, far: Steered) -> None:
    """Idempotent, as a person who presses the button again expects."""
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    ack = talk.submit("Tell")
    far.call()
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    talk.host.event("turn.complete", runId=ack["runId"])
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    assert len(talk.host.seen("turn.complete")) == 1


def test_queued_messages_are_answered_in_their_order(talk: Talk, far: Steered) -> None:
    """Each sees the answers before it; its user node is written when it starts; the panel is told of the queue."""
    first = talk.submit("1")
    assert "userNodeId" in first
    call = far.call()
    queued = [talk.submit(str(number)) for number in (2, 3)]
    assert [ack["queued"] for ack in queued] == [True, True]
    assert [entry["runId"] for entry in talk.snapshot()["queue"]] == [ack["runId"] for ack in queued]
    assert [text for _, text in shown(talk.snapshot())] == ["1"]
    call.say("one")
    call.end()
    for number, words in ((2, "two"), (3, "three")):
        call = far.call()
        assert [said for role, said in call.said if role == "user"] == [str(n) for n in range(1, number + 1)]
        call.say(words)
        call.end()
    for ack in (first, *queued):
        talk.host.event("turn.complete", runId=ack["runId"])
    assert [text for _, text in shown(talk.snapshot())] == ["1", "one", "2", "two", "3", "three"]
    starts = [event["runId"] for event in talk.host.seen("turn.start")]
    assert starts == [ack["runId"] for ack in (first, *queued)]
    lengths = [len(event["queue"]) for event in talk.host.seen("queue.updated")]
    assert lengths[-1] == 0
    assert max(lengths) == 2


def test_eight_wait_behind_an_answer_and_no_ninth(talk: Talk, far: Steered) -> None:
    """Also while the first is being answered, whatever the way in; what is taken back makes room."""
    talk.submit("0")
    far.call()
    waiting = [talk.submit(str(number))["runId"] for number in range(1, 9)]
    for op in ("turn.submit", "turn.enqueue"):
        refusal = talk.host.refused(op, threadId=talk.thread, input=text("9"), overrides=far.overrides)
        assert (refusal["code"], refusal["retryable"]) == ("queue_full", True)
    assert [entry["runId"] for entry in talk.snapshot()["queue"]] == waiting  # type: ignore[attr-defined]
    talk.host.ack("queue.update", threadId=talk.thread, runId=waiting[1], input=text("two"))
    talk.host.ack("queue.remove", threadId=talk.thread, runId=waiting[0])
    added = talk.host.ack("turn.enqueue", threadId=talk.thread, input=text("9"), overrides=far.overrides)["runId"]
    queue = talk.snapshot()["queue"]
    assert [entry["runId"] for entry in queue] == [*waiting[1:], added]  # type: ignore[attr-defined]
    assert queue[0]["input"] == text("two")  # type: ignore[index]
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    assert far.call().said[-1] == ("user", "two")


def test_a_stop_lets_the_queue_go_on(talk: Talk, far: Steered) -> None:
    first = talk.submit("1")
    call = far.call()
    call.say("one")
    talk.host.event("item.delta")
    second = talk.submit("2")
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    assert talk.host.event("turn.complete", runId=first["runId"])["stopReason"] == "interrupted"
    call = far.call()
    assert call.said == [("user", "1"), ("assistant", "one"), ("user", "2")]
    assert talk.snapshot()["thread"]["status"] == "running"
    call.say("two")
    call.end()
    talk.host.event("turn.complete", runId=second["runId"])
    assert talk.snapshot()["thread"]["status"] == "idle"


def test_no_thread_waits_for_the_model_of_another(talk: Talk, far: Steered) -> None:
    slow = talk.submit("slow")
    silent = far.call()
    other = talk.new_thread()
    quick = talk.submit("quick", other)
    call = far.call()
    call.say("done")
    call.end()
    assert talk.host.event("turn.complete", runId=quick["runId"])["threadId"] == other
    assert talk.snapshot()["activeTurn"]["state"] == "streaming_model"
    silent.say("at last")
    silent.end()
    talk.host.event("turn.complete", runId=slow["runId"])
    assert shown(talk.snapshot())[-1] == ("assistant", "at last")
    assert shown(talk.snapshot(other))[-1] == ("assistant", "done")


def test_a_connection_that_breaks_keeps_what_was_said(talk: Talk, far: Steered) -> None:
    """A message that says it ended in an error, an error in words, and the next turn works (E37)."""
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once upon")
    talk.host.event("item.delta")
    call.cut()
    end = talk.host.event("turn.complete", runId=ack["runId"])
    assert end["stopReason"] == "error"
    assert end["error"]["code"] in ("provider_network", "provider_protocol")
    assert end["error"]["message"]
    snapshot = talk.snapshot()
    assert shown(snapshot) == [("user", "Tell"), ("assistant", "Once upon")]
    assert snapshot["nodes"][-1]["payload"]["stopReason"] == "error"
    assert snapshot["thread"]["status"] == "failed"
    again = talk.submit("Again")
    call = far.call()
    assert call.said == [("user", "Tell"), ("assistant", "Once upon"), ("user", "Again")]
    call.say("Once more")
    call.end()
    assert talk.host.event("turn.complete", runId=again["runId"])["stopReason"] == "end"


@pytest.mark.parametrize(("native", "reason"), [("length", "max_tokens"), ("content_filter", "content_filter")])
def test_how_an_answer_ended_is_told_and_kept(talk: Talk, far: Steered, native: str, reason: str) -> None:
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once")
    call.end(native)
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == reason
    assert talk.snapshot()["nodes"][-1]["payload"]["stopReason"] == reason


def test_a_delete_in_the_middle_ends_the_call_and_writes_nothing(talk: Talk, far: Steered) -> None:
    """The fence moved: no wait for the model, and no answer in a thread that was restored."""
    talk.submit("Tell")
    call = far.call()
    call.say("Once upon")
    talk.host.event("item.delta")
    talk.host.ack("thread.delete", threadId=talk.thread)
    assert call.gone.wait(2)
    talk.host.ack("thread.restore", threadId=talk.thread)
    assert shown(talk.snapshot()) == [("user", "Tell")]
    again = talk.submit("Again")
    call = far.call()
    call.say("Here")
    call.end()
    assert talk.host.event("turn.complete", runId=again["runId"])["stopReason"] == "end"


def test_deltas_are_merged_to_one_for_sixteen_milliseconds(talk: Talk, far: Steered) -> None:
    """The first at once; a burst of a thousand pieces is a few events, and every character is in them."""
    ack = talk.submit("Tell")
    call = far.call()
    pieces = [f"{number} " for number in range(1000)]
    begun = time.monotonic()
    for piece in pieces:
        call.say(piece)
    call.end()
    talk.host.event("turn.complete", runId=ack["runId"])
    took = time.monotonic() - begun
    deltas = [event["delta"]["text"] for event in talk.host.seen("item.delta")]
    assert "".join(deltas) == "".join(pieces)
    assert len(deltas) <= took / 0.016 + 3, (len(deltas), took)


def test_what_cannot_be_text_comes_out_as_text(talk: Talk, far: Steered) -> None:
    """NUL and separators are kept, a lone surrogate is U+FFFD, wherever it is read (E56, E57)."""
    ack = talk.submit("Tell")
    call = far.call()
    for piece in ("a\u0000b", "\u2028", "\U0001f41d", "\ud83d", "end"):
        call.say(piece)
    call.end()
    talk.host.event("turn.complete", runId=ack["runId"])
    kept = "a\u0000b\u2028\U0001f41d\ufffdend"
    assert shown(talk.snapshot())[-1] == ("assistant", kept)
    assert "".join(event["delta"]["text"] for event in talk.host.seen("item.delta")) == kept


def test_a_moved_connection_is_not_asked_to_resume(talk: Talk, far: Steered) -> None:
    """`snapshot_invalid`: the run's environment names another endpoint; with the old one back it goes on."""
    from support.runners import kill_runner

    ack = talk.submit("Tell")
    far.call()
    until(lambda: talk.snapshot()["activeTurn"]["state"] == "streaming_model", "model call")
    kill_runner(talk.store.state)
    talk.host.event("run.recovery_required")
    moved = {**far.connection, "baseUrl": "http://127.0.0.1:9/v1"}
    talk.host.ack("connection.save", connection=moved)
    refused = talk.host.refused("run.resume", threadId=talk.thread, runId=ack["runId"])
    assert (refused["code"], refused["retryable"]) == ("snapshot_invalid", False)
    talk.host.ack("connection.save", connection={**far.connection, "name": "Renamed"})
    talk.host.ack("run.resume", threadId=talk.thread, runId=ack["runId"])
    call = far.call()
    call.say("Here")
    call.end()
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
