"""A panel without its companion says which of the browser's errors it is and what to do; nothing is lost meanwhile."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, answer, expect_whole
from lib import panel as panels

CODES = ("not_found", "forbidden", "exited", "communication")


def absent(desk: Desk) -> None:
    """Nothing is registered."""
    desk.manifest().unlink()


def another_extension(desk: Desk) -> None:
    """Registered, but not for this extension."""
    manifest = json.loads(desk.manifest().read_text())
    desk.manifest().write_text(json.dumps({**manifest, "allowed_origins": [f"chrome-extension://{'a' * 32}/"]}))


def ends_at_once(desk: Desk) -> None:
    """A host that ends before it has said anything."""
    replace_launcher(desk, "exit 1")


def says_no_frames(desk: Desk) -> None:
    """A host that prints text where frames belong."""
    replace_launcher(desk, "echo Traceback, most recent call last; sleep 1")


def replace_launcher(desk: Desk, line: str) -> None:
    launcher = desk.folder / "broken"
    launcher.write_text(f"#!/bin/sh\n{line}\n")
    launcher.chmod(0o755)
    manifest = json.loads(desk.manifest().read_text())
    desk.manifest().write_text(json.dumps({**manifest, "path": str(launcher)}))


BROKEN: dict[str, Callable[[Desk], None]] = dict(
    zip(CODES, (absent, another_extension, ends_at_once, says_no_frames), strict=True)
)
SAYS = {
    "not_found": ("not installed", "sidekeep install"),
    "forbidden": ("not for this copy", "sidekeep install"),
    "exited": ("ended at once", "sidekeep doctor"),
    "communication": ("not a message", "sidekeep doctor"),
}


def open_broken(desk: Desk, address: str, code: str) -> tuple[Page, str]:
    """A panel whose host is broken so; also the manifest as it should be."""
    desk.register()
    right = desk.manifest().read_text()
    BROKEN[code](desk)
    return desk.browser(address).open_panel(), right


@pytest.mark.parametrize("code", CODES)
def test_each_error_has_its_words_and_its_way_out(desk: Desk, page_address: str, code: str) -> None:
    """The cause, the command that helps, the list not shown as empty (E1); mended, *Try again* connects (B42)."""
    panel, right = open_broken(desk, page_address, code)
    status = panels.part(panel, "host-status")
    expect(status).to_have_attribute("data-code", code, timeout=15_000)
    what, command = SAYS[code]
    expect(status).to_contain_text("The store is unavailable")
    expect(status).to_contain_text(what)
    expect(status).to_contain_text(command)
    panels.part(panel, "open-threads").click()
    expect(panels.part(panel, "thread-list")).to_contain_text("Your chats are not gone")

    desk.manifest().write_text(right)
    panel.keyboard.press("Escape")
    # It may have connected by itself, in which case there is no button any more.
    retry = panels.part(panel, "retry")
    expect(retry.or_(panel.locator('[data-testid="host-status"][data-code="connected"]')).first).to_be_attached()
    if retry.is_visible():
        retry.click()
    panels.wait_until_connected(panel, 60)


def test_what_is_written_without_a_host_is_kept_and_sent(desk: Desk, page_address: str) -> None:
    """A message is marked as not saved, outlives the panel, and is sent once when a host is there (E1, E34)."""
    panel, right = open_broken(desk, page_address, "not_found")
    expect(panels.part(panel, "host-status")).to_have_attribute("data-code", "not_found", timeout=15_000)
    panels.ask(panel, "What is a tide?")
    expect(panels.part(panel, "unsaved-badge")).to_have_attribute("data-count", "1")
    mine = panel.locator('[data-testid="message"][data-role="user"]')
    expect(mine).to_have_attribute("data-state", "unsaved")

    chromium = desk.browsers[0]
    chromium.close_panel(panel)
    panel = chromium.open_panel()
    expect(panels.part(panel, "unsaved-badge")).to_have_attribute("data-count", "1")

    desk.manifest().write_text(right)
    panels.wait_until_connected(panel, 60)
    expect(panels.part(panel, "unsaved-badge")).to_have_count(0)
    thread = sent_once(desk)
    if not answer(panel).count():
        from e2e.desk import open_thread

        open_thread(panel, thread)
    expect_whole(answer(panel))
    assert sent_once(desk) == thread


def sent_once(desk: Desk) -> str:
    """There is one conversation with one question; its id."""
    (thread,) = json.loads(desk.sidekeep("threads", "--json").stdout)["threads"]
    nodes = json.loads(desk.sidekeep("show", thread["id"], "--json").stdout)["nodes"]
    asked = [node["payload"]["content"][0]["text"] for node in nodes if node["type"] == "user_message"]
    assert asked == ["What is a tide?"]
    return str(thread["id"])
