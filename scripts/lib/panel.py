"""What a person does in the side panel, by the names that its parts have for tests."""

from playwright.sync_api import Locator, Page, expect

from lib.steps import Fault

ANSWER_SECONDS = 600.0
_ANSWER = '[data-testid="message"][data-role="assistant"]'
_BROKEN = ("interrupted", "error", "incomplete")
_ENDS = ('[data-testid="recovery-card"]', ".ended")


def part(panel: Page | Locator, name: str) -> Locator:
    """A part of the panel by its test id."""
    return panel.get_by_test_id(name)


def wait_until_connected(panel: Page, seconds: float = 30.0) -> None:
    """Waits until the composer takes text: the host has answered and the store is open."""
    expect(part(panel, "composer")).to_be_enabled(timeout=seconds * 1000)
    expect(part(panel, "host-status")).to_have_attribute("data-code", "connected", timeout=seconds * 1000)


def attach_page(panel: Page) -> None:
    """Attaches the page beside the panel and waits for its chip."""
    part(panel, "attach-page").click()
    expect(part(panel, "context-chip")).to_be_visible(timeout=15_000)


def ask(panel: Page, question: str) -> None:
    """Types a question and sends it."""
    part(panel, "composer").fill(question)
    part(panel, "send").click()


def answers(panel: Page) -> Locator:
    """The assistant's messages, oldest first."""
    return panel.locator(_ANSWER)


def wait_for_answer(panel: Page, number: int, seconds: float = ANSWER_SECONDS) -> str:
    """Waits until the answer of this number (from 0) is whole, and returns its text as it is shown.

    Raises Fault with the panel's own words when the turn ends otherwise.
    """
    whole = panel.locator(f'{_ANSWER}[data-state="final"]').nth(number)
    other = panel.locator(", ".join((*(f'{_ANSWER}[data-state="{state}"]' for state in _BROKEN), *_ENDS)))
    expect(whole.or_(other).first).to_be_visible(timeout=seconds * 1000)
    if not whole.count():
        said = " ".join(other.first.inner_text().split())
        raise Fault(f"The answer did not come to its end: {said}")
    return part(whole, "message-body").inner_text().strip()


def titles(panel: Page) -> list[str]:
    """The titles in the thread list, which a narrow panel keeps out of sight."""
    return [text.strip() for text in part(panel, "thread-item").locator(".name").all_text_contents()]
