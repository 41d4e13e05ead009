"""The runs of hours, one a call: `python -m durability.long images report.json --images 1000000`."""

import argparse
import json
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from durability import deaths, full_disk, long_images
from durability.flips import flip_sweep
from durability.judge import Broken
from durability.long_images import fast_folder

Figures = dict[str, Any]


def images(wanted: argparse.Namespace, report: Path) -> Figures:
    """Power cuts, seed after seed."""
    return long_images.run(wanted.images, float("inf"), wanted.seed, report)


def flips(wanted: argparse.Namespace, _report: Path) -> Figures:
    """Single bits of the database's file."""
    changed, named = _in_folder(lambda bench: flip_sweep(bench, wanted.flips, random.Random(wanted.seed)))
    return {"flips": wanted.flips, "changedForAReader": changed, "named": named}


def kills(wanted: argparse.Namespace, _report: Path) -> Figures:
    """Real processes, killed by the system at any moment."""
    killed, acknowledged = _in_folder(lambda bench: deaths.kill_sweep(bench, wanted.deaths, wanted.seed))
    return {"killed": killed, "acknowledged": acknowledged, "lost": 0}


def disk(_wanted: argparse.Namespace, _report: Path) -> Figures:
    """A real file system that is full."""
    refused, done = full_disk.fill(full_disk.small_disk())
    return {"acknowledgedBeforeFull": done, "refusedWhileFull": refused, "lost": 0}


def hosts(wanted: argparse.Namespace, _report: Path) -> Figures:
    """Two hosts on one store for hours."""
    commands = _in_folder(lambda bench: deaths.two_writers(bench, wanted.hours * 3600, wanted.seed))
    return {"hours": wanted.hours, "commands": commands, "lost": 0}


RUNS: dict[str, Callable[[argparse.Namespace, Path], Figures]] = {
    "images": images,
    "flips": flips,
    "deaths": kills,
    "disk": disk,
    "hosts": hosts,
}


def _in_folder(run: Callable[[Path], Any]) -> Any:
    bench = fast_folder()
    try:
        return run(bench)
    finally:
        shutil.rmtree(bench, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m durability.long")
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("report", type=Path)
    for name, kind in (("images", int), ("flips", int), ("deaths", int), ("hours", float), ("seed", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    wanted = parser.parse_args()
    began = time.monotonic()
    try:
        figures = RUNS[wanted.run](wanted, wanted.report)
    except Broken as broken:
        figures = {"broken": str(broken)}
    figures.setdefault("seconds", round(time.monotonic() - began, 1))
    wanted.report.parent.mkdir(parents=True, exist_ok=True)
    wanted.report.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if figures.get("broken") else 0


if __name__ == "__main__":
    sys.exit(main())
