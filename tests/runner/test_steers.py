"""What a user adds while an answer is written: taken in at the next call, never lost, never for another turn."""

import time

from runner.conftest import Talk
from support.runners import kill_runner, shown, until
from support.steered import Steered
from support.stores import text


def steer(talk: Talk, turn: object, words: str) -> None:
    talk.host.ack("turn.steer", threadId=talk.thread, expectedTurnId=turn, input=text(words))


def test_a_steer_after_the_last_call_makes_another(talk: Talk, far: Steered) -> None:
    """It is on disk when it is acknowledged; the answer under way is kept whole, and the same turn answers it, too."""
    ack = talk.submit("Tell of bees")
    call = far.call()
    call.say("Bees fly.")
    talk.host.event("item.delta")
    steer(talk, ack["turnId"], "and wasps")
    assert [words for _, words in shown(talk.snapshot())] == ["Tell of bees"]
    call.end(usage=(10, 5))
    again = far.call()
    assert again.said == [("user", "Tell of bees"), ("assistant", "Bees fly."), ("user", "and wasps")]
    again.say("Wasps, too.")
    again.end(usage=(20, 7))
    end = talk.host.event("turn.complete", runId=ack["runId"])
    assert (end["stopReason"], end["turnId"]) == ("end", ack["turnId"])
    snapshot = talk.snapshot()
    assert [words for _, words in shown(snapshot)] == ["Tell of bees", "Bees fly.", "and wasps", "Wasps, too."]
    added = snapshot["nodes"][2]
    assert added["payload"] == {**text("and wasps"), "steered": True}
    assert snapshot["thread"]["leafId"] == snapshot["nodes"][3]["id"]
    assert (snapshot["thread"]["status"], snapshot["thread"]["stats"]["turns"]) == ("idle", 1)
    assert talk.host.query("run.get", runId=ack["runId"])["run"]["usage"] == {"inputTokens": 30, "outputTokens": 12}
    # Two items, each with the node that it became, and one end.
    completed = [event["nodeId"] for event in talk.host.seen("item.complete")]
    assert completed == [snapshot["nodes"][1]["id"], snapshot["nodes"][3]["id"]]
    assert len(talk.host.seen("turn.complete")) == 1
    assert talk.host.seen("turn.start")[0]["steerable"] is True


def test_a_steer_for_another_turn_is_refused(talk: Talk, far: Steered) -> None:
    """Of a turn that is over, of one that waits in the queue, of one that is being stopped, of nothing."""

    def refused(turn: object) -> None:
        answer = talk.host.refused("turn.steer", threadId=talk.thread, expectedTurnId=turn, input=text("never seen"))
        assert (answer["code"], answer["retryable"]) == ("turn_mismatch", False)

    first = talk.submit("1")
    call = far.call()
    queued = talk.submit("2")
    refused(queued["turnId"])
    call.say("one")
    call.end()
    talk.host.event("turn.complete", runId=first["runId"])
    far.call()
    refused(first["turnId"])
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    refused(queued["turnId"])
    talk.host.event("turn.complete", runId=queued["runId"])
    refused(queued["turnId"])
    assert "never seen" not in str(talk.snapshot())


def test_a_stop_keeps_what_was_added(talk: Talk, far: Steered) -> None:
    """The interrupted message, then what the user had added; the next turn reads both."""
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once")
    talk.host.event("item.delta")
    steer(talk, ack["turnId"], "shorter")
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == "interrupted"
    assert [words for _, words in shown(talk.snapshot())] == ["Tell", "Once", "shorter"]
    talk.submit("Again")
    assert [words for _, words in far.call().said] == ["Tell", "Once", "shorter", "Again"]


def test_a_steer_survives_the_death_of_the_runner(talk: Talk, far: Steered) -> None:
    """Acknowledged, then kill -9: the resumed call reads it."""
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once")
    talk.host.event("item.delta")
    steer(talk, ack["turnId"], "of wasps")
    kill_runner(talk.store.state)
    talk.host.event("run.recovery_required")
    talk.host.ack("run.resume", threadId=talk.thread, runId=ack["runId"])
    call = far.call()
    assert call.said == [("user", "Tell"), ("user", "of wasps")]
    call.say("A wasp")
    call.end()
    talk.host.event("turn.complete", runId=ack["runId"])
    assert [words for _, words in shown(talk.snapshot())] == ["Tell", "of wasps", "A wasp"]


def test_a_steer_stays_when_the_user_goes_on_without_the_answer(talk: Talk, far: Steered) -> None:
    """The runner died; the user sends another message instead of resuming: nothing that was acknowledged is lost."""
    ack = talk.submit("Tell")
    call = far.call()
    call.say("Once")
    talk.host.event("item.delta")
    steer(talk, ack["turnId"], "of wasps")
    kill_runner(talk.store.state)
    talk.host.event("run.recovery_required")
    talk.submit("Go on")
    assert [words for _, words in far.call().said] == ["Tell", "Once", "of wasps", "Go on"]
    assert [words for _, words in shown(talk.snapshot())] == ["Tell", "Once", "of wasps", "Go on"]


def test_a_spent_budget_asks_and_goes_on(talk: Talk, far: Steered) -> None:
    """Between two calls only; the thread needs an answer, and `run.resume` gives as many tokens again."""
    talk.host.ack("settings.set", patch={"budget.turn_tokens": 100})
    ack = talk.submit("Tell")
    call = far.call()
    call.say("One")
    talk.host.event("item.delta")
    steer(talk, ack["turnId"], "more")
    call.end(usage=(90, 20))
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == "budget_pause"
    snapshot = talk.snapshot()
    assert snapshot["thread"]["status"] == "needs_input"
    assert snapshot["activeTurn"]["state"] == "paused_budget"
    assert [(run["runId"], run["state"], run["reason"]) for run in snapshot["recoverable"]] == [
        (ack["runId"], "paused_budget", "budget_pause")
    ]
    assert [words for _, words in shown(snapshot)] == ["Tell", "One"]
    waiting = talk.submit("later")
    assert waiting["queued"]
    talk.host.ack("run.resume", threadId=talk.thread, runId=ack["runId"])
    call = far.call()
    assert call.said[-1] == ("user", "more")
    call.say("Two")
    call.end()
    talk.host.event("turn.complete", runId=ack["runId"], where=lambda e: e["stopReason"] == "end")
    call = far.call()
    call.end()
    talk.host.event("turn.complete", runId=waiting["runId"])
    assert [words for _, words in shown(talk.snapshot())][:5] == ["Tell", "One", "more", "Two", "later"]


def test_a_paused_turn_can_be_stopped(talk: Talk, far: Steered) -> None:
    """Nobody executes it: the stop ends it at once, and what was added stays."""
    talk.host.ack("settings.set", patch={"budget.turn_tokens": 1})
    ack = talk.submit("Tell")
    call = far.call()
    steer(talk, ack["turnId"], "more")
    call.say("One")
    call.end()
    talk.host.event("turn.complete", runId=ack["runId"])
    begun = time.monotonic()
    talk.host.ack("turn.interrupt", threadId=talk.thread)
    talk.host.event("turn.complete", runId=ack["runId"], where=lambda e: e["stopReason"] == "interrupted")
    assert time.monotonic() - begun < 0.2
    snapshot = talk.snapshot()
    assert [words for _, words in shown(snapshot)] == ["Tell", "One", "more"]
    assert (snapshot["thread"]["status"], snapshot["recoverable"], snapshot["activeTurn"]) == ("idle", [], None)
    until(lambda: talk.host.query("run.get", runId=ack["runId"])["run"]["state"] == "interrupted", "end of the run")


def test_never_between_a_tool_call_and_its_result(talk: Talk, far: Steered) -> None:
    """Added while a tool waits for the user: the model reads the result first, then what was added, in order."""
    talk.host.ack("connection.save", connection=far.with_tools)
    ack = talk.submit("Ask me")
    far.call().use(("ask_user", {"question": "Which?"}))
    asked = talk.host.event("interaction.request")
    steer(talk, ack["turnId"], "and hurry")
    steer(talk, ack["turnId"], "please")
    talk.host.ack("interaction.response", interactionId=asked["interactionId"], response={"answer": "this one"})
    call = far.call()
    assert [role for role, _ in call.said] == ["user", "assistant", "tool", "user", "user"]
    assert [words for _, words in call.said[3:]] == ["and hurry", "please"]
    assert "this one" in call.said[2][1]
    call.say("Done.")
    call.end()
    assert talk.host.event("turn.complete", runId=ack["runId"])["stopReason"] == "end"
