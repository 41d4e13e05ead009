"""The real panel against the rules of axe-core: no violation in any of its states, light and dark."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, answer, expect_whole
from e2e.seeded import conversation, host
from lib import panel as panels
from lib.checkout import EXTENSION

AXE = EXTENSION / "node_modules" / "axe-core" / "axe.min.js"
SCHEMES = ("light", "dark")


def violations(panel: Page, scheme: Any) -> list[str]:
    """What axe finds in the panel as it is, one line a rule."""
    panel.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if not panel.evaluate("() => 'axe' in window"):
        panel.evaluate(AXE.read_text())
    found = panel.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    assert found["passes"], "axe has examined nothing"
    return [
        f"{scheme}: {rule['id']} ({rule['impact']}): {rule['help']}: {_places(rule)}" for rule in found["violations"]
    ]


def _places(rule: Any) -> list[str]:
    """The beginnings of the elements that a rule complains of."""
    return [node["html"][:160] for node in rule["nodes"][:3]]


def both(panel: Page) -> list[str]:
    return [line for scheme in SCHEMES for line in violations(panel, scheme)]


def test_an_empty_chat_and_a_conversation(desk: Desk, page_address: str) -> None:
    """First sight, an answer with its buttons, the open list, the settings."""
    panel = desk.panel(page_address)
    assert both(panel) == []
    panels.attach_page(panel)
    panels.ask(panel, "Summarise this page")
    expect_whole(answer(panel))
    assert both(panel) == []
    panels.part(panel, "open-threads").click()
    expect(panels.part(panel, "thread-item").first).to_be_visible()
    assert both(panel) == []
    panel.keyboard.press("Escape")


def test_settings(desk: Desk, page_address: str) -> None:
    """Every section and field of the settings."""
    panel = desk.panel(page_address)
    if not panels.part(panel, "open-settings").is_visible():
        panels.part(panel, "open-threads").click()
    panels.part(panel, "open-settings").click()
    expect(panels.part(panel, "settings")).to_be_visible()
    assert both(panel) == []


def test_what_can_be_captured(desk: Desk, page_address: str) -> None:
    """More to attach, the tabs behind an `@`, and the choice of what to keep of a page."""
    panel = desk.panel(page_address)
    panels.part(panel, "composer").press_sequentially("@")
    expect(panels.part(panel, "tab-option").first).to_be_visible()
    assert both(panel) == []
    panel.keyboard.press("Escape")
    expect(panels.part(panel, "tab-picker")).to_have_count(0)
    panels.part(panel, "attach-menu").click()
    assert both(panel) == []
    panels.part(panel, "attach-keep").click()
    expect(panels.part(panel, "dialog")).to_be_visible()
    assert both(panel) == []


@pytest.mark.parametrize("registered", [False])
def test_without_a_host(desk: Desk, page_address: str, registered: bool) -> None:
    """The screen that a person meets first when something is wrong."""
    panel = desk.browser(page_address).open_panel()
    expect(panels.part(panel, "host-status")).to_have_attribute("data-code", "not_found", timeout=15_000)
    assert both(panel) == []


def test_search_and_kept_pages(desk: Desk, page_address: str) -> None:
    """Hits with marks, all filters open; the list of kept pages, one that is read, and the question before it goes."""
    with host(desk.state) as client:
        conversation(client, "A long talk", 6)
        about = {"url": "https://tides.example/", "title": "Tide pools", "capturedAt": 1_700_000_000_000}
        cut = {"reason": "the full copy is too large", "keptBytes": 20}
        client.ack("page.capture", **about, parts=[], text="# Tide pools\n\nThe question of `C++`.", cut=cut)
    panel = desk.panel(page_address)
    panels.part(panel, "composer").press("Control+k")
    panels.part(panel, "search-filters").click()
    panels.part(panel, "search-field").fill("question")
    expect(panels.part(panel, "search-hit")).to_have_count(4)
    panels.part(panel, "search-hit").first.hover()
    assert both(panel) == []
    panel.keyboard.press("Escape")
    panels.part(panel, "open-menu").click()
    panels.part(panel, "menu-pages").click()
    expect(panels.part(panel, "page-item")).to_have_count(1)
    assert both(panel) == []
    panels.part(panel, "page-item").locator("button.open").click()
    expect(panels.part(panel, "reader-text").get_by_role("heading")).to_be_visible()
    assert both(panel) == []
    panels.part(panel, "open-menu").click()
    panel.get_by_role("menuitem", name="Delete page").click()
    expect(panels.part(panel, "dialog")).to_be_visible()
    assert both(panel) == []
