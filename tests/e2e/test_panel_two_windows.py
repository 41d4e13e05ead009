"""Two views of one store at once, the side panel and a tab: each shows what the other does."""

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, answer, expect_whole, open_thread, text_of, wait_for_text
from e2e.seeded import conversation, host, quick_answers
from lib import panel as panels


@pytest.fixture
def thread(desk: Desk) -> str:
    with host(desk.state) as client:
        return conversation(client, "Shared", 4)


@pytest.fixture
def both(desk: Desk, page_address: str, thread: str) -> tuple[Page, Page]:
    """The side panel, and the same chat in a tab."""
    desk.register()
    chromium = desk.browser(page_address)
    tab = chromium.context.new_page()
    panel = chromium.open_panel()
    panels.wait_until_connected(panel)
    tab.goto(f"chrome-extension://{chromium.extension_id}/sidepanel.html?tab#thread={thread}")
    panels.wait_until_connected(tab)
    open_thread(panel, thread)
    for view in (panel, tab):
        view.set_viewport_size({"width": 420, "height": 1200})
        expect(panels.part(view, "message")).to_have_count(4)
    return panel, tab


def test_an_answer_grows_in_both(both: tuple[Page, Page]) -> None:
    """Asked in one, it is read in the other while it is written, and both end alike (D1, E43)."""
    panel, tab = both
    panels.ask(panel, "Tell me a long story about a fisherman and the sea.")
    wait_for_text(tab, answer(tab, 2))
    assert expect_whole(answer(panel, 2)) == expect_whole(answer(tab, 2))
    for view in both:
        expect(panels.part(view, "message")).to_have_count(6)


def test_changes_of_the_list_and_the_path_show_in_the_other(both: tuple[Page, Page]) -> None:
    """Title, deletion and its undo; within a second and without a reload (D1, E24, E42, E43)."""
    panel, tab = both
    panel.get_by_test_id("open-menu").click()
    panel.get_by_role("menuitem", name="Rename").click()
    panel.get_by_test_id("rename").fill("Renamed beside it")
    panel.keyboard.press("Enter")
    expect(panels.part(tab, "thread-title")).to_have_text("Renamed beside it", timeout=1_000)

    panels.answers(tab).last.get_by_test_id("delete-message").click()
    expect(panels.part(panel, "message")).to_have_count(3, timeout=1_000)
    panels.part(tab, "undo").click()
    expect(panels.part(panel, "message")).to_have_count(4, timeout=1_000)


def test_a_branch_chosen_in_one_is_shown_in_the_other(desk: Desk, both: tuple[Page, Page]) -> None:
    """Both follow the one cursor, from an edit on; neither view mixes two branches (E24)."""
    with host(desk.state) as client:
        quick_answers(client)
    panel, tab = both
    panel.locator('[data-role="user"]').last.get_by_test_id("edit-message").click()
    panels.ask(panel, "Another question")
    for view in both:
        expect(view.get_by_test_id("branch-pos").last).to_have_text("2/2", timeout=30_000)
        expect(panels.part(view, "stop")).to_have_count(0, timeout=30_000)
    tab.get_by_test_id("branch-prev").last.click()
    for view in both:
        expect(view.get_by_test_id("branch-pos").last).to_have_text("1/2")
        expect(view.get_by_text("Another question")).to_have_count(0)
        expect(view.get_by_text("Question 3.")).to_be_visible()
    assert [text_of(answer(panel, n)) for n in (0, 1)] == [text_of(answer(tab, n)) for n in (0, 1)]


def test_a_chat_deleted_in_one_is_said_in_the_other(both: tuple[Page, Page]) -> None:
    """The other window keeps showing it, says that it lies in the trash, and can bring it back (A5)."""
    panel, tab = both
    panel.get_by_test_id("open-menu").click()
    panel.get_by_role("menuitem", name="Delete").click()
    status = panels.part(tab, "host-status")
    expect(status).to_contain_text("This chat is in the trash", timeout=2_000)
    status.get_by_role("button", name="Restore").click()
    expect(status).not_to_contain_text("This chat is in the trash")
    panels.ask(tab, "Still there?")
    expect(panels.part(tab, "message")).to_have_count(6, timeout=120_000)
    expect(panels.part(tab, "unsaved-badge")).to_have_count(0)
