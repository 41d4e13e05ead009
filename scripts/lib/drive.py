"""`scripts/start`, second half: opens the browser with the real side panel, and asks when nobody is there to."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, sync_playwright

from lib import panel as panels
from lib.browser import Chromium
from lib.checkout import BUILT_EXTENSION, SAMPLE, program
from lib.page_server import serve
from lib.steps import Fault, Log, fail, say

QUESTION = "Summarise this page"


@dataclass(frozen=True)
class Drive:
    """What the first half found out."""

    browser: str
    profile: Path
    state: Path
    headless: bool

    def run(self) -> None:
        """Opens page and panel; headless asks once, else stays until the window is closed."""
        with serve(SAMPLE) as address, sync_playwright() as playwright:
            chromium = Chromium(
                playwright, self.browser, self.profile, BUILT_EXTENSION, headless=self.headless,
            )  # fmt: skip
            chromium.page.goto(address)
            panel = chromium.open_panel()
            panels.wait_until_connected(panel)
            say(f"The side panel is open beside “{chromium.page.title()}”.")
            self._tell_history(panel)
            if self.headless:
                self._ask(panel)
                chromium.close()
            else:
                say(f"Conversations are kept in {self.state}. Close the window to end.")
                chromium.context.wait_for_event("close", timeout=0)

    def _tell_history(self, panel: Page) -> None:
        known = self._sidekeep("threads", "--limit", "500")["threads"]
        if not known:
            say("There are no earlier conversations.")
            return
        panels.part(panel, "thread-item").first.wait_for(state="attached")
        shown = panels.titles(panel)
        say(f"Found {len(known)} earlier conversation{'s' if len(known) > 1 else ''}; the panel lists:")
        for title in shown[:5]:
            say(f"  {title}")

    def _ask(self, panel: Page) -> None:
        if panels.part(panel, "new-thread").is_enabled():
            panels.part(panel, "new-thread").click()
        panels.attach_page(panel)
        panels.ask(panel, QUESTION)
        say(f"\nQuestion: {QUESTION}\n")
        answer = panels.wait_for_answer(panel, 0)
        if not answer:
            raise Fault("The answer is empty.")
        thread = self._sidekeep("threads", "--limit", "1")["threads"][0]
        kept = self._sidekeep("show", thread["id"])["nodes"]
        last = [node for node in kept if node["type"] == "assistant_message"][-1]["payload"]
        say(f"Answer, by {last.get('modelId') or last.get('model') or 'the model'}:\n{answer}\n")
        say(f"Kept in {self.state} as conversation {thread['id']} (“{thread['title']}”).")
        say(f"Read it with: {program('sidekeep')} show --state {self.state} {thread['id']}")

    def _sidekeep(self, *words: str) -> Any:
        """What the command line says about the store: another process than the one that wrote it."""
        done = subprocess.run(
            [program("sidekeep"), *words, "--state", str(self.state), "--json"], capture_output=True, text=True
        )
        if done.returncode:
            raise Fault(f"sidekeep {words[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
        return json.loads(done.stdout)


def main(words: list[str]) -> int:
    mode, browser, profile, state = words
    log = Log("browser")
    try:
        Drive(browser, Path(profile), Path(state), headless=mode == "--headless").run()
    except Fault as fault:
        return fail(fault, log)
    except (PlaywrightError, AssertionError) as error:
        log.write(str(error))
        return fail(_sentence(str(error)), log)
    return 0


def _sentence(text: str) -> str:
    if "ProcessSingleton" in text or "existing browser session" in text:
        return "Another browser has this profile open: close it first."
    if "sandbox" in text.lower() and "usable" in text.lower():
        return "Chromium's sandbox cannot start here: set SIDEKEEP_NO_SANDBOX=1 to go on without it."
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")
    return f"The browser did not do as expected: {first.rstrip('.')}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
