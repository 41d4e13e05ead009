"""`scripts/durability`: the laboratory's tests in their sizes, and its runs of hours with figures."""

import argparse
import json
import subprocess
from pathlib import Path

from lib import python_packages
from lib.checkout import OWN, PYTHON, ROOT, clean_environment
from lib.steps import Fault, Log, fail, say

TESTS = ["tests/durability", "tests/store", "tests/verify/test_bit_flips.py"]
LONG = ("images", "flips", "deaths", "disk", "hosts")


def main() -> int:
    """0 when every promise held."""
    parser = argparse.ArgumentParser(
        prog="./scripts/durability", description="Proves what docs/durability.md promises; sets up what is missing."
    )
    parser.add_argument("--full", action="store_true", help="the laboratory's tests in their full sizes")
    parser.add_argument("--long", action="store_true", help="the runs of hours; each writes its figures as it goes")
    parser.add_argument("--only", action="append", choices=LONG, help="with --long: only this run")
    parser.add_argument("--images", type=int, default=1_000_000, help="how many crash images (1,000,000)")
    parser.add_argument("--flips", type=int, default=10_000, help="how many flipped bits (10,000)")
    parser.add_argument("--deaths", type=int, default=2_000, help="how many processes are killed (2,000)")
    parser.add_argument("--hours", type=float, default=8.0, help="for how long two hosts share a store (8)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed of the crash images (1)")
    wanted = parser.parse_args()
    log = Log("durability")
    try:
        python_packages.ensure(log, dev=True)
    except Fault as fault:
        return fail(fault, log)
    if not wanted.long:
        marks = [] if wanted.full else ["-m", "not long"]
        return subprocess.run([str(PYTHON), "-m", "pytest", "-n", "2", *marks, *TESTS], cwd=ROOT).returncode
    return _long(wanted)


def _long(wanted: argparse.Namespace) -> int:
    report = OWN / "durability"
    broken = 0
    for name in wanted.only or LONG:
        path = report / f"{name}.json"
        say(f"{name}: figures in {path.relative_to(ROOT)}")
        words = [str(PYTHON), "-m", "durability.long", name, str(path)]
        for option in ("images", "flips", "deaths", "hours", "seed"):
            words += [f"--{option}", str(getattr(wanted, option))]
        done = subprocess.run(words, cwd=ROOT / "tests", env=clean_environment())
        broken += done.returncode != 0
        _show(path)
    return 1 if broken else 0


def _show(path: Path) -> None:
    if path.exists():
        for key, value in json.loads(path.read_text()).items():
            say(f"  {key}: {value}")
