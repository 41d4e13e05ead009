"""In a private window there is no Sidekeep: what is private is not kept."""

from e2e.desk import Desk, wait_until


def test_the_panel_does_not_open_in_a_private_window(desk: Desk, page_address: str) -> None:
    """A private window knows no page of the extension, though the ordinary window beside it opens the panel."""
    desk.register()
    chromium = desk.browser(page_address)
    browser = chromium.context.browser
    assert browser is not None
    session = browser.new_browser_cdp_session()
    page = f"chrome-extension://{chromium.extension_id}/sidepanel.html"
    private = session.send("Target.createBrowserContext")["browserContextId"]
    target = session.send(
        "Target.createTarget", {"url": page, "browserContextId": private, "newWindow": True, "background": True}
    )["targetId"]

    def shown() -> str:
        told = session.send("Target.getTargets")["targetInfos"]
        return next(str(one["title"]) for one in told if one["targetId"] == target)

    wait_until(chromium.page, lambda: shown() not in ("", "about:blank"), "answer of the private window", 15)
    told = shown()
    assert "Sidekeep" not in told
    assert desk.hosts() == []
    session.send("Target.disposeBrowserContext", {"browserContextId": private})

    panel = chromium.open_panel()
    assert "Sidekeep" in panel.title()
    wait_until(chromium.page, lambda: len(desk.hosts()) == 1, "host", 15)
