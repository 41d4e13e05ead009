"""A desk: one state folder, the browsers that a person opens on it, and the processes behind them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page, Playwright, expect

from lib import panel as panels
from lib.browser import Chromium
from lib.checkout import BUILT_EXTENSION
from support.runners import lives, processes_of, runner_of, until

ANSWER_SECONDS = 120.0
HOST_NAME = "dev.sidekeep.host"


class Desk:
    """Browsers are started with a home of their own, so that nothing of the user's is read or written."""

    def __init__(self, playwright: Playwright, folder: Path, program: str) -> None:
        self.playwright = playwright
        self.folder = folder
        self.program = program
        self.state = folder / "state"
        self.home = folder / "home"
        self.home.mkdir()
        self.browsers: list[Chromium] = []
        self.extension = BUILT_EXTENSION
        self.sidekeep_command = [str(Path(sys.executable).parent / "sidekeep")]

    # --- what a person does ---

    def sidekeep(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """The command line, on this desk's state folder."""
        done = subprocess.run(
            [*self.sidekeep_command, *words, "--state", str(self.state)],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert not check or done.returncode == 0, (done.stdout, done.stderr)
        return done

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("SIDEKEEP_STATE", "VIRTUAL_ENV")}
        return {**kept, "HOME": str(self.home), "LANGUAGE": "en"}

    def grant_everything(self) -> None:
        """From here on browsers have an extension with every permission: no test can press the prompt for one."""
        self.extension = self.folder / "extension"
        shutil.copytree(BUILT_EXTENSION, self.extension)
        manifest = json.loads((self.extension / "manifest.json").read_text())
        manifest["permissions"] += manifest.pop("optional_permissions")
        manifest["host_permissions"] = manifest.pop("optional_host_permissions")
        (self.extension / "manifest.json").write_text(json.dumps(manifest))

    def profile(self, name: str = "profile") -> Path:
        return self.folder / name

    def register(self, name: str = "profile") -> None:
        """`sidekeep install` for a browser with this profile."""
        self.sidekeep("install", "--user-data-dir", str(self.profile(name)), "--yes")

    def manifest(self, name: str = "profile") -> Path:
        """Where the browser looks for the host."""
        return self.profile(name) / "NativeMessagingHosts" / f"{HOST_NAME}.json"

    def browser(self, address: str, name: str = "profile") -> Chromium:
        """A browser with the extension, on a page."""
        chromium = Chromium(
            self.playwright,
            self.program,
            self.profile(name),
            self.extension,
            environment=self.environment(),
            arguments=["--lang=en-US"],
        )
        self.browsers.append(chromium)
        chromium.page.goto(address)
        return chromium

    def panel(self, address: str, name: str = "profile") -> Page:
        """Registers, opens a browser on a page and the side panel beside it; the store is open."""
        self.register(name)
        panel = self.browser(address, name).open_panel()
        panels.wait_until_connected(panel)
        return panel

    # --- the processes behind it ---

    def host(self) -> int:
        """The one host that lives."""
        pids = self.hosts()
        assert len(pids) == 1, pids
        return pids[0]

    def hosts(self) -> list[int]:
        return [pid for pid, line in processes_of(self.state) if "sidekeep-host.py" in line]

    def runner(self) -> int:
        """The runner, as soon as one lives."""
        return until(lambda: runner_of(self.state), "runner")

    def model(self) -> int:
        """The process in which the local model writes."""
        worker = until(
            lambda: [pid for pid, line in processes_of(self.state) if "providers.local_worker" in line], "model worker"
        )
        assert len(worker) == 1, worker
        return worker[0]

    @contextlib.contextmanager
    def model_held(self) -> Iterator[int]:
        """The model stands still in the middle of its answer, for as long as the block takes."""
        pid = self.model()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield pid
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def kill(self, pid: int) -> None:
        """kill -9, and its end."""
        os.kill(pid, signal.SIGKILL)
        until(lambda: not lives(pid), f"end of {pid}")

    def kill_browser(self, chromium: Chromium) -> None:
        """kill -9 of the browser's own process; those below it end by themselves, and the hosts with their pipes."""
        pid = chromium.process_id()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not lives(pid), "end of the browser")
        self.browsers.remove(chromium)
        with contextlib.suppress(PlaywrightError):
            chromium.context.close()

    def close(self, chromium: Chromium) -> None:
        """Closes a browser as a person does."""
        self.browsers.remove(chromium)
        chromium.close()

    def clear(self) -> None:
        """Closes all browsers; ends the runner, which would else wait for a minute."""
        for chromium in list(self.browsers):
            with contextlib.suppress(PlaywrightError):
                self.close(chromium)
        for pid, _line in processes_of(self.state):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
                os.kill(pid, signal.SIGKILL)
        until(lambda: not processes_of(self.state), "end of all processes")


def answer(panel: Page, number: int = 0) -> Locator:
    """The assistant's message of this number (from 0), growing or whole."""
    return panels.answers(panel).nth(number)


def text_of(message: Locator) -> str:
    """What a message says, without its labels; empty while it says nothing."""
    return panels.part(message, "message-body").inner_text().strip() if message.count() else ""


def one_line(text: str) -> str:
    """Without what Markdown and the layout do to white space."""
    return " ".join(text.split())


def wait_for_text(panel: Page, message: Locator, beyond: str = "") -> str:
    """Waits until a message says more than `beyond`; its text."""
    found = ""

    def more() -> bool:
        nonlocal found
        found = text_of(message)
        return len(found) > len(beyond)

    wait_until(panel, more, "more text")
    return found


def wait_until(panel: Page, look: Any, what: str, seconds: float = ANSWER_SECONDS) -> None:
    """Looks again and again, letting the browser's events through."""
    rest = int(seconds * 1000)
    while not look():
        assert rest > 0, f"no {what} within {seconds:.0f} s"
        panel.wait_for_timeout(20)
        rest -= 20


def expect_whole(message: Locator, seconds: float = ANSWER_SECONDS) -> str:
    """Waits until the message is whole; its text."""
    expect(message).to_have_attribute("data-state", "final", timeout=seconds * 1000)
    return text_of(message)


def open_thread(panel: Page, thread_id: str) -> None:
    """Chooses a conversation from the list."""
    item = panel.locator(f'[data-testid="thread-item"][data-thread-id="{thread_id}"]')
    if not item.is_visible():
        panels.part(panel, "open-threads").click()
    item.click()
