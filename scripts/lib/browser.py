"""A real Chromium with the extension loaded, and its real side panel as a page that Playwright can drive."""

import base64
import contextlib
import hashlib
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Page, Playwright
from playwright.sync_api import Error as PlaywrightError

PANEL_SECONDS = 15.0
PRESSES = 2


def extension_id(built: Path) -> str:
    """The id that Chromium gives to an extension with this key: 32 digits of its SHA-256, written from a to p."""
    key = json.loads((built / "manifest.json").read_text())["key"]
    digits = hashlib.sha256(base64.b64decode(key)).hexdigest()[:32]
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digits)


class Chromium:
    """One browser on one profile; made anew after it was closed or killed."""

    def __init__(
        self,
        playwright: Playwright,
        program: str,
        profile: Path,
        extension: Path,
        *,
        headless: bool = True,
        environment: dict[str, str] | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        self._playwright = playwright
        self.profile = profile
        self.extension_id = extension_id(extension)
        # A killed browser leaves it behind, and a connection to whatever has its port by now would be wrong.
        (profile / "DevToolsActivePort").unlink(missing_ok=True)
        self.context: BrowserContext = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=program,
            headless=headless,
            no_viewport=True,
            # Root has no sandbox to start.
            chromium_sandbox=os.getuid() != 0 and not os.environ.get("SIDEKEEP_NO_SANDBOX"),
            env=dict(environment) if environment is not None else None,
            ignore_default_args=[
                "--disable-extensions",
                "--disable-component-extensions-with-background-pages",
                "--enable-automation",
            ],
            args=[
                f"--disable-extensions-except={extension}",
                f"--load-extension={extension}",
                "--remote-debugging-port=0",
                "--no-first-run",
                "--hide-crash-restore-bubble",
                *arguments,
            ],
        )
        # A press of the toolbar button before the worker was first started reaches nobody.
        if not self.context.service_workers:
            self.context.wait_for_event("serviceworker", timeout=PANEL_SECONDS * 1000)
        self.page: Page = self.context.pages[0] if self.context.pages else self.context.new_page()

    def _session(self) -> CDPSession:
        browser = self.context.browser
        if browser is None:
            raise PlaywrightError("the browser has gone")
        return browser.new_browser_cdp_session()

    def process_id(self) -> int:
        """The browser's own process."""
        session = self._session()
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return next(int(process["id"]) for process in found if process["type"] == "browser")

    def open_panel(self) -> Page:
        """Presses the toolbar button beside the current page and returns the panel that opened.

        The connection that launched the browser never hears of a panel, so a new one is made each time.
        """
        session = self._session()
        for _ in range(PRESSES):
            session.send("Extensions.triggerAction", {"id": self.extension_id, "targetId": self._tab(session)})
            if self._panel_opens(session):
                break
        else:
            raise PlaywrightError("the side panel did not open")
        session.detach()
        port = int((self.profile / "DevToolsActivePort").read_text().splitlines()[0])
        connected = self._playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        return next(page for page in connected.contexts[0].pages if self._is_panel(page.url))

    def press(self) -> None:
        """Presses the toolbar button beside the current page."""
        session = self._session()
        session.send("Extensions.triggerAction", {"id": self.extension_id, "targetId": self._tab(session)})
        session.detach()

    def workers(self) -> set[str]:
        """The extension's workers that run, by their targets; a press while none does can end the whole browser."""
        session = self._session()
        targets = session.send("Target.getTargets")["targetInfos"]
        session.detach()
        return {str(target["targetId"]) for target in targets if self._is_worker(target)}

    def close_panel(self, panel: Page) -> None:
        """Closes the panel and waits until it has gone."""
        session = self._session()
        with contextlib.suppress(PlaywrightError):  # it goes before it can answer
            panel.evaluate("() => window.close()")
        end = time.monotonic() + PANEL_SECONDS
        while any(self._is_panel(target["url"]) for target in session.send("Target.getTargets")["targetInfos"]):
            if time.monotonic() > end:
                raise PlaywrightError("the side panel did not close")
            self.page.wait_for_timeout(20)
        session.detach()

    def _tab(self, session: CDPSession) -> str:
        """The tab of the current page; the button belongs to a tab, not to the page in it."""
        tabs: list[dict[str, Any]] = session.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        beside = [tab for tab in tabs if tab["url"] == self.page.url] or tabs
        return str(beside[0]["targetId"])

    def _panel_opens(self, session: CDPSession) -> bool:
        end = time.monotonic() + PANEL_SECONDS
        while time.monotonic() < end:
            targets = session.send("Target.getTargets")["targetInfos"]
            if any(self._is_panel(target["url"]) for target in targets):
                return True
            self.page.wait_for_timeout(20)
        return False

    def _is_panel(self, url: str) -> bool:
        return url.startswith(f"chrome-extension://{self.extension_id}/") and "sidepanel" in url

    def _is_worker(self, target: dict[str, Any]) -> bool:
        worker: bool = target["type"] == "service_worker"
        return worker and str(target["url"]).startswith(f"chrome-extension://{self.extension_id}/")

    def close(self) -> None:
        """Closes the browser as a person does."""
        self.context.close()
