"""A model that reads the page beside the panel: asked about, allowed, read, answered."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from e2e.desk import Desk, answer, expect_whole
from lib import panel as panels
from support.hostclient import HostClient
from support.steered import Steered


@pytest.fixture
def far(desk: Desk) -> Iterator[Steered]:
    """An endpoint with tools, the default model of this desk, whose every call is asked about."""
    with Steered() as found:
        with HostClient(desk.state) as host:
            host.initialize()
            host.ready()
            host.ack("connection.save", connection=found.with_tools)
            model = found.overrides["model"]
            host.ack("settings.set", patch={"models.default": model, "policy.default": "always", "titles.model": False})
        yield found


def test_a_page_is_read_once_it_is_allowed(desk: Desk, far: Steered, page_address: str) -> None:
    """A14: the card's decision lets the tool read, the model has the page's words, and takes more while it answers."""
    desk.grant_everything()
    panel = desk.panel(page_address)
    heading = desk.browsers[0].page.locator("h1").first.inner_text()
    panels.ask(panel, "What does this page say?")
    far.call().use(("read_page", {}), ("list_tabs", {}))
    card = panel.locator('[data-testid="approval"][data-tool="read_page"]')
    expect(card).to_be_visible(timeout=20_000)
    expect(card).to_contain_text(page_address)
    panels.part(card, "allow-once").press("Enter")
    expect(card).to_have_count(0)
    other = panel.locator('[data-testid="approval"][data-tool="list_tabs"]')
    panels.part(other, "decline-note").fill("Only this page.")
    panels.part(other, "decline-note").press("Enter")

    call = far.call()
    read, tabs = (message["content"] for message in call.body["messages"] if message["role"] == "tool")
    assert heading in read
    assert page_address in read
    assert "Only this page." in tabs
    call.say("It is ")
    panels.part(panel, "composer").fill("In one word.")
    panels.part(panel, "composer").press("Control+Enter")
    expect(panels.part(panel, "composer")).to_have_value("")
    expect(panel.get_by_text("read at the next step")).to_be_visible()
    call.end()
    call = far.call()
    assert call.said[-1] == ("user", "In one word.")
    call.say("Sample.")
    call.end()
    final = panel.locator('[data-testid="message"][data-role="assistant"]').last
    assert expect_whole(final, 20) == "Sample."
    expect(answer(panel)).to_be_visible()
