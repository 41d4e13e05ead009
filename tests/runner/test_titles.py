"""Later titles: by a model after the turns 1, 6, 16 and 40, of the model that is set for such tasks, until a person
names the conversation."""

import pytest

from runner.conftest import Talk
from sidekeep.turns.titles import due
from support.runners import until
from support.steered import Steered


@pytest.mark.parametrize(
    ("replies", "mark", "for_reply"),
    [
        (0, 0, None),
        (1, 0, 1),
        (1, 1, None),
        (5, 1, None),
        (6, 1, 6),
        (9, 1, 6),
        (16, 6, 16),
        (40, 6, 40),
        (99, 40, None),
    ],
)
def test_when_a_title_is_due(replies: int, mark: int, for_reply: int | None) -> None:
    """One that was missed is made up for, the latest only."""
    assert due(replies, mark) == for_reply


def test_a_model_names_it_again_until_a_person_does(talk: Talk, far: Steered) -> None:
    """The sixth answer brings a new title, asked of `models.task`; after a person's title nobody is asked again."""
    talk.host.ack("settings.set", patch={"models.task": {"connectionId": "steered", "modelId": "small-one"}})
    far.steady(["Yes."], 0)

    def turns(first: int, last: int) -> None:
        for number in range(first, last + 1):
            ack = talk.submit(f"Question {number}")
            talk.host.event("turn.complete", runId=ack["runId"])

    far.title = "The first title"
    turns(1, 1)
    talk.host.event("thread.updated", where=lambda e: e["patch"].get("title") == "The first title")
    far.title = "The sixth title"
    turns(2, 6)
    talk.host.event("thread.updated", where=lambda e: e["patch"].get("title") == "The sixth title")
    assert [call.body["model"] for call in far.title_calls] == ["small-one", "small-one"]
    assert all("tools" not in call.body for call in far.title_calls)
    talk.host.ack("thread.update", threadId=talk.thread, patch={"title": "Mine"})
    far.title = "The sixteenth title"
    turns(7, 17)
    assert talk.snapshot()["thread"]["title"] == "Mine"  # type: ignore[index]
    until(lambda: talk.snapshot()["thread"]["stats"]["turns"] == 17, "seventeen turns")  # type: ignore[index]
    assert len(far.title_calls) == 2
