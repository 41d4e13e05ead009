"""`scripts/test`: sets up what testing needs, runs every check, and closes with each runner's own summary."""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lib import chromium, extension_build, python_packages
from lib.checkout import EXTENSION, LOGS, PYTHON, ROOT, clean_environment, program
from lib.steps import Fault, Log, fail, say

PYTEST = r"^=*\s*(no tests ran|\d+ (passed|failed|errors?|deselected)\b).* in [\d.]+s"
FAILED_TESTS = 1  # pytest's status for tests that failed, unlike its own faults
FEW = 3
CORES = str(min(os.cpu_count() or 2, 4))


@dataclass(frozen=True)
class Part:
    """One check: what runs, where, and which lines of its output are its summary."""

    name: str
    words: Sequence[str]
    summary: str
    folder: Path = ROOT
    quiet_success: str = ""


def parts(*, full: bool) -> list[Part]:
    """Every check, the quick ones first."""
    long = "" if full else " and not long"
    crowd = ["-n", CORES, "--dist", "worksteal", "-m", f"not browser{long}"]
    browsers = ["-n", CORES, "--dist", "worksteal", "-m", f"browser{long}"]
    return [
        Part("ruff", [program("ruff"), "check", "."], r"passed|Found \d+"),
        Part("ruff format", [program("ruff"), "format", "--check", "."], r"file"),
        Part("mypy", [program("mypy")], r"^(Success|Found)"),
        Part(
            "generated files", [str(PYTHON), "scripts/generate", "--check"], r"is not what", quiet_success="up to date"
        ),
        Part("tsc", ["npm", "run", "--silent", "typecheck"], r"error TS", EXTENSION, quiet_success="no errors"),
        Part("vitest", ["npm", "run", "--silent", "test"], r"^\s*(Test Files|Tests)\s", EXTENSION),
        Part("pytest", [str(PYTHON), "-m", "pytest", *crowd], PYTEST),
        Part("pytest in the browser", [str(PYTHON), "-m", "pytest", *browsers], PYTEST),
    ]


def _again(part: Part) -> Part | None:
    """What runs the tests alone that have just failed."""
    if "pytest" not in part.words:
        return None
    words = [str(PYTHON), "-m", "pytest", "-p", "no:xdist", "--last-failed", "--last-failed-no-failures", "none"]
    return Part(f"{part.name}, again", words, part.summary)


@dataclass(frozen=True)
class Outcome:
    """How one check went."""

    part: Part
    status: int
    summary: list[str]
    seconds: float
    log: Path


def main() -> int:
    """Runs all that is asked for, also after a failure; 0 when everything passed."""
    parser = argparse.ArgumentParser(
        prog="./scripts/test", description="Runs everything that is tested; sets up whatever is missing."
    )
    names = [part.name for part in parts(full=False)]
    parser.add_argument("--full", action="store_true", help="the long sizes, too")
    parser.add_argument(
        "--only", action="append", metavar="CHECK", choices=names, help=f"only this check: {', '.join(names)}"
    )
    wanted = parser.parse_args()
    started = time.monotonic()
    log = Log("setup")
    try:
        python_packages.ensure(log, dev=True)
        extension_build.ensure(log)
        browser = chromium.ensure(log)
    except Fault as fault:
        return fail(fault, log)
    chosen = [part for part in parts(full=wanted.full) if not wanted.only or part.name in wanted.only]
    outcomes = [_run(part, browser, _again(part)) for part in chosen]
    return _close(outcomes, time.monotonic() - started)


def _once_more(part: Part, browser: str, failed: list[str], seconds: float) -> Outcome:
    """The few tests that failed, by themselves: one that passes now is named as unsteady, not forgotten."""
    second = _run(part, browser)
    unsteady = [f"unsteady, passed when run again: {name}" for name in failed] if second.status == 0 else []
    return Outcome(part, second.status, [*second.summary, *unsteady], seconds + second.seconds, second.log)


def _failed(lines: Sequence[str]) -> list[str]:
    return [line.split()[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]


def _run(part: Part, browser: str, again: Part | None = None) -> Outcome:
    """Runs one check with its output shown and kept; `again` is what runs when a few tests failed."""
    say(f"\n── {part.name}")
    started = time.monotonic()
    path = LOGS / f"test-{part.name.replace(',', '').replace(' ', '-')}.log"
    environment = {**clean_environment(), "SIDEKEEP_CHROMIUM": browser, "NO_COLOR": "1"}
    lines: list[str] = []
    with path.open("w", encoding="utf-8", errors="replace") as kept:
        process = subprocess.Popen(
            part.words,
            cwd=part.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            kept.write(line)
            lines.append(line.rstrip())
        status = process.wait()
    if again is not None and status == FAILED_TESTS and len(_failed(lines)) <= FEW:
        return _once_more(again, browser, _failed(lines), time.monotonic() - started)
    summary = [line for line in lines if re.search(part.summary, line)]
    if not summary and status == 0 and part.quiet_success:
        summary = [part.quiet_success]
        say(part.quiet_success)
    return Outcome(part, status, summary[-2:], time.monotonic() - started, path)


def _close(outcomes: list[Outcome], seconds: float) -> int:
    say("")
    for outcome in outcomes:
        say(f"── {outcome.part.name} ({outcome.seconds:.0f} s)")
        for line in outcome.summary or [f"ended with status {outcome.status}"]:
            say(line)
    failed = [outcome for outcome in outcomes if outcome.status]
    for outcome in failed:
        sys.stdout.flush()
        sys.stderr.write(f"{outcome.part.name} failed. Details: {outcome.log}\n")
    took = f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    say(f"\n{len(outcomes) - len(failed)} of {len(outcomes)} checks passed in {took}.")
    return 1 if failed else 0
