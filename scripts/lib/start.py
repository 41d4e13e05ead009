"""`scripts/start`, first half: installs and builds what is missing, then hands over to the half that drives."""

import argparse
import os
from typing import NoReturn

from lib import chromium, extension_build, python_packages
from lib.checkout import PYTHON, ROOT, clean_environment, profile_dir, program, state_dir
from lib.steps import Fault, Log, fail, say


def main() -> int:
    """Prepares everything and becomes the driving program; 1 with a sentence when something cannot be had."""
    parser = argparse.ArgumentParser(
        prog="./scripts/start",
        description="Opens Chromium with the Sidekeep side panel beside a sample page; sets up whatever is missing.",
        epilog="SIDEKEEP_STATE names another state folder, SIDEKEEP_CHROMIUM another Chromium.",
    )
    parser.add_argument(
        "--headless",
        action="store_true",
        help="without a window: attach the page, ask for a summary, print the answer and where it is kept",
    )
    wanted = parser.parse_args()
    log = Log("start")
    try:
        if not wanted.headless and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            raise Fault("There is no display to open a window on: run ./scripts/start --headless instead.")
        python_packages.ensure(log, dev=False)
        extension_build.ensure(log)
        browser = chromium.ensure(log)
        state = state_dir()
        profile = profile_dir(state)
        register = [program("sidekeep"), "install", "--user-data-dir", str(profile), "--state", str(state), "--yes"]
        log.run(register, "The host could not be registered for the browser.")
    except Fault as fault:
        return fail(fault, log)
    say(f"Ready: host and extension are built, and registered for the profile {profile}.")
    mode = "--headless" if wanted.headless else "--window"
    return _become([str(PYTHON), "-m", "lib.drive", mode, browser, str(profile), str(state)])


def _become(words: list[str]) -> NoReturn:
    """The driving half needs the packages of the environment, so it is a program of that one."""
    os.execve(words[0], words, {**clean_environment(), "PYTHONPATH": str(ROOT / "scripts")})
