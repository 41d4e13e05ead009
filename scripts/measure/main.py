"""`scripts/bench`, second half: runs what was asked for, prints a table, writes the figures as JSON."""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import apsw
from rich.console import Console
from rich.table import Table

from lib.checkout import OWN
from measure.attaching import p4
from measure.in_chromium import p1_p2
from measure.in_git import p12
from measure.in_pipe import p3, p5, p6
from measure.in_store import p7, p8
from measure.rounds import Figure
from measure.searching import p9, p14
from measure.starting import p10
from measure.streaming import s4
from measure.two_ends import p11, p13

WORKLOADS: dict[str, Callable[[Path, int], list[Figure]]] = {
    "P1": p1_p2,
    "P3": p3,
    "P4": p4,
    "P5": p5,
    "P6": p6,
    "P7": p7,
    "P8": p8,
    "P9": p9,
    "P10": p10,
    "P11": p11,
    "P12": p12,
    "P13": p13,
    "P14": p14,
    "S4": s4,
}


def main() -> int:
    """0 when every bar that was measured is met."""
    parser = argparse.ArgumentParser(
        prog="./scripts/bench",
        description="Measures workloads and their yardsticks in turns on this machine; P1 has P2 with it.",
    )
    parser.add_argument("workload", nargs="*", help=f"some of {', '.join(WORKLOADS)}; all unless given")
    parser.add_argument("--rounds", type=int, default=5, help="turns of workload and yardstick (5)")
    parser.add_argument("--json", type=Path, default=OWN / "bench.json", help="where the figures go")
    wanted = parser.parse_args()
    unknown = set(wanted.workload) - set(WORKLOADS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    figures: list[Figure] = []
    for name in wanted.workload or WORKLOADS:
        sys.stderr.write(f"{name} …\n")
        with tempfile.TemporaryDirectory(prefix="sidekeep-bench-", ignore_cleanup_errors=True) as folder:
            figures += WORKLOADS[name](Path(folder), wanted.rounds)
    _show(figures)
    about = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version(), "cores": os.cpu_count(),
             "machine": platform.machine(), "system": platform.system(), "rounds": wanted.rounds}  # fmt: skip
    wanted.json.parent.mkdir(parents=True, exist_ok=True)
    wanted.json.write_text(json.dumps({"about": about, "figures": [figure.row() for figure in figures]}, indent=2))
    return 0 if all(figure.met for figure in figures) else 1


def _show(figures: list[Figure]) -> None:
    table = Table(box=None)
    for title, justify in (("", "left"), ("what", "left"), ("median", "right"), ("against", "left"),
                           ("median", "right"), ("ratio", "right"), ("bar", "left"), ("", "left")):  # fmt: skip
        table.add_column(title, justify="right" if justify == "right" else "left")
    for figure in figures:
        table.add_row(
            figure.bar,
            figure.what,
            f"{figure.ours:,.2f} {figure.unit}",
            figure.yardstick,
            f"{figure.yard:,.2f} {figure.unit}",
            f"{figure.ratio:.2f}×",
            figure.wanted,
            "met" if figure.met else "MISSED",
        )
    Console(width=max(120, Console().width)).print(table)


if __name__ == "__main__":
    sys.exit(main())
