"""A conversation that is too long for its model is cut in the order of the contract, and the cut is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekeep.providers.base import ContextText, Message, TextBlock, ToolCall
from sidekeep.turns.context import SessionContext
from sidekeep.turns.fit import budget_for, fit, tokens_of


def _page(text: str, title: str = "") -> ContextText:
    return ContextText(text, "<attached-1>\n", "\n</attached-1>", "page", title, "")


def _turn(number: int, page: str = "", words: int = 10) -> list[Message]:
    asked = [TextBlock(f"question {number} " + "word " * words)]
    return [
        Message("user", [_page(page, f"Page {number}"), *asked] if page else list(asked)),
        Message("assistant", [TextBlock(f"answer {number} " + "word " * words)]),
    ]


def _context(*turns: list[Message]) -> SessionContext:
    starts, messages = [], []
    for turn in turns:
        starts.append(len(messages))
        messages += turn
    return SessionContext(messages, starts, None, [])


def _texts(context: SessionContext) -> list[str]:
    return [message.text for message in context.messages]


def test_what_fits_is_left_as_it_is() -> None:
    context = _context(_turn(1, "page " * 100), _turn(2))
    before = _texts(context)
    assert fit(context, 100_000).note() is None
    assert _texts(context) == before


def test_page_texts_of_the_oldest_turns_go_first() -> None:
    """Words of the conversation stay while there is still an old page to leave out; a line names what stood there."""
    context = _context(_turn(1, "old " * 2000), _turn(2, "newer " * 2000), _turn(3, "newest " * 100))
    cut = fit(context, 4_500)
    assert cut.note() == {"pageTexts": 1}
    assert "Attached text \u201cPage 1\u201d stood here" in context.messages[0].text
    assert "question 1" in context.messages[0].text
    assert "newer newer" in context.messages[2].text
    assert context.turns == [0, 2, 4]


def test_then_whole_oldest_turns_go_and_none_is_halved() -> None:
    context = _context(*(_turn(number, words=400) for number in range(1, 7)))
    cut = fit(context, 2_200)
    assert cut.note() == {"turns": 4}
    assert [text.split(" word")[0] for text in _texts(context)] == ["question 5", "answer 5", "question 6", "answer 6"]
    assert context.turns == [0, 2]


def test_a_tool_call_goes_with_its_turn_and_results() -> None:
    """An endpoint refuses a result without its call."""
    old = [
        Message("user", [TextBlock("look " * 500)]),
        Message("assistant", [], [ToolCall("i1", "search", "{}")]),
        Message("tool", [TextBlock("found " * 500)], tool_call_id="i1"),
        Message("assistant", [TextBlock("there")]),
    ]
    context = _context(old, _turn(2))
    assert fit(context, 200).note() == {"turns": 1}
    assert [message.role for message in context.messages] == ["user", "assistant"]


def test_the_newest_turn_stays_and_its_page_is_shortened() -> None:
    """The fences and the question stay whole; a line says that the rest was left out."""
    context = _context(_turn(1), _turn(2, "newest page " * 5000))
    cut = fit(context, 2_000)
    assert cut.note() == {"turns": 1, "shortened": 1}
    asked = context.messages[0]
    page = asked.content[0]
    assert isinstance(page, ContextText)
    assert page.whole.startswith("<attached-1>\nnewest page")
    assert page.whole.endswith("[\u2026 the rest was left out to make room]\n</attached-1>")
    assert "question 2" in asked.text
    assert sum(tokens_of(text) for text in _texts(context)) <= 2_000


@given(
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 300)), min_size=1, max_size=6),
    st.integers(300, 6000),
)
def test_whatever_is_cut_the_rest_is_whole(shapes: list[tuple[int, int]], budget: int) -> None:
    """The newest question is there, turns begin where they are said to begin, and roles alternate as they did."""
    context = _context(*(_turn(n, "page " * pages, words) for n, (pages, words) in enumerate(shapes)))
    fit(context, budget)
    last = len(shapes) - 1
    assert any(f"question {last} " in text for text in _texts(context))
    assert [message.role for message in context.messages] == ["user", "assistant"] * len(context.turns)
    assert context.turns == list(range(0, len(context.messages), 2))


@pytest.mark.parametrize(
    ("window", "answer", "system", "expected"),
    [
        (8_000, 1_000, "", 6_439),  # 92 % of 7,000 without one token of an empty prompt
        (8_000, None, "x" * 400, 5_419),  # a quarter for the answer, and 101 tokens of prompt
        (128_000, None, "", 113_990),  # the answer takes 4,096 at most
        (2_000, 5_000, "", 919),  # an answer longer than half the window is held to half
    ],
)
def test_the_budget_leaves_room_for_answer_and_prompt(
    window: int, answer: int | None, system: str, expected: int
) -> None:
    assert budget_for(window, answer, system) == expected


def test_tokens_are_counted_high_rather_than_low() -> None:
    """One a character where a script is not Latin: a page in Chinese is not four times too long for its window."""
    assert tokens_of("abcd" * 100) == 101
    assert tokens_of("\u8702\u871c" * 100) == 201
    assert tokens_of("a" * 400 + "\u2026") == 102
