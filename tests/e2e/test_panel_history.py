"""Long and damaged conversations in the real panel: nothing jumps, nothing hangs, the gap is named."""

import re
import time

from playwright.sync_api import Page, expect

from e2e.desk import Desk, open_thread, wait_until
from e2e.seeded import conversation, host
from lib import panel as panels
from support.conversation import opened

MESSAGES = 500
TOP_OF = """(rows) => {
  const top = rows.getBoundingClientRect().top;
  const inside = [...rows.querySelectorAll('[data-node-id]')].find((each) => each.getBoundingClientRect().top >= top);
  return inside && [inside.dataset.nodeId, inside.getBoundingClientRect().top - top];
}"""

PLACE_OF = """(rows, id) => {
  const found = rows.querySelector(`[data-node-id="${id}"]`);
  return found && found.getBoundingClientRect().top - rows.getBoundingClientRect().top;
}"""


def rows(panel: Page):  # type: ignore[no-untyped-def]
    return panel.get_by_role("log")


def numbers(panel: Page) -> list[int]:
    """The numbers of the messages that are drawn, in their order on the screen."""
    texts = panels.part(panel, "message-body").all_inner_texts()
    return [int(found[1]) for text in texts if (found := re.match(r"(?:Question|Answer) (\d+)\.", text.strip()))]


def test_paging_back_through_a_long_conversation_keeps_the_place(desk: Desk, page_address: str) -> None:
    """The newest stands there first; going up brings all 500 in order, and what is read never jumps (E45, E47)."""
    with host(desk.state) as client:
        thread = conversation(client, "Long", MESSAGES)
    panel = desk.panel(page_address)
    # High enough that a row is still drawn after it went down by one step.
    panel.set_viewport_size({"width": 420, "height": 900})
    began = time.monotonic()
    open_thread(panel, thread)
    expect(panel.get_by_text(f"Answer {MESSAGES}.")).to_be_visible()
    assert time.monotonic() - began < 5
    assert numbers(panel)[-1] == MESSAGES

    seen = set(numbers(panel))
    jumps: list[float] = []

    def up() -> bool:
        before = rows(panel).evaluate(TOP_OF)
        rows(panel).evaluate("(rows) => { rows.scrollTop -= 400; }")
        panel.wait_for_timeout(40)
        if before is not None and rows(panel).evaluate("(rows) => rows.scrollTop") > 0:
            place = rows(panel).evaluate(PLACE_OF, before[0])
            if place is not None:
                jumps.append(abs(place - before[1] - 400))
        now = numbers(panel)
        assert now == sorted(now), now
        seen.update(now)
        return 1 in seen

    wait_until(panel, up, "first message")
    assert seen == set(range(1, MESSAGES + 1))
    # A page that arrives and rows that are measured for the first time move nothing by more than a line or two.
    assert max(jumps) < 60, sorted(jumps)[-5:]


def test_going_up_stays_up_while_an_answer_is_written(desk: Desk, page_address: str) -> None:
    """Whoever reads further up is not pulled down by new text; a button leads back to the newest (E45)."""
    with host(desk.state) as client:
        thread = conversation(client, "Long", 60)
    panel = desk.panel(page_address)
    open_thread(panel, thread)
    expect(panel.get_by_text("Answer 60.")).to_be_visible()
    panels.ask(panel, "Tell me a long story about a fisherman and the sea.")
    expect(panels.part(panel, "stop")).to_be_visible()
    rows(panel).evaluate("(rows) => { rows.scrollTop -= 500; }")
    away = panel.get_by_label("To the newest message")
    expect(away).to_be_visible()
    place = rows(panel).evaluate(TOP_OF)
    height = rows(panel).evaluate("(rows) => rows.scrollHeight")
    wait_until(panel, lambda: rows(panel).evaluate("(rows) => rows.scrollHeight") > height + 60, "growing answer")
    assert rows(panel).evaluate(TOP_OF) == place
    panels.part(panel, "stop").click()
    expect(panels.part(panel, "stop")).to_have_count(0, timeout=20_000)
    assert rows(panel).evaluate(TOP_OF) == place
    away.click()
    expect(panels.answers(panel).last).to_be_visible()
    expect(away).to_have_count(0)


def test_a_damaged_conversation_opens_with_its_gap_named(desk: Desk, page_address: str) -> None:
    """A row that cannot be read and a leaf that is nowhere: the rest is there at once, with a notice (E13, E20)."""
    with host(desk.state) as client:
        thread = conversation(client, "Damaged", 6)
        other = conversation(client, "Whole", 2)
    with opened(desk.state) as (_store, doorway):

        def damage(tx):  # type: ignore[no-untyped-def]
            row = tx.thread(thread)
            tx.run("UPDATE nodes SET payload = ? WHERE k = ?", ("{broken", row.k << 32 | 3))
            tx.run("UPDATE threads SET leaf = ? WHERE k = ?", (row.k << 32 | 999, row.k))
            return True

        doorway.run(damage)
    panel = desk.panel(page_address)
    panel.set_viewport_size({"width": 420, "height": 1400})
    open_thread(panel, thread)
    expect(panel.get_by_text("Answer 6.")).to_be_visible(timeout=3_000)
    expect(panel.locator('[data-testid="message"][data-role="notice"]')).not_to_have_count(0)
    assert {1, 2, 4, 5, 6} <= set(numbers(panel))
    open_thread(panel, other)
    expect(panel.get_by_text("Answer 2.")).to_be_visible()
    expect(panel.locator('[data-testid="message"][data-role="notice"]')).to_have_count(0)
