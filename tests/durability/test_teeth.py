"""The laboratory against products that break a promise: it has to notice each."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from durability.flips import flip_sweep
from durability.locked import nobody_gets_in
from durability.sabotage import SABOTAGES

TESTS = Path(__file__).resolve().parents[1]


def run(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "durability.sabotage", name], cwd=TESTS, capture_output=True, text=True, timeout=250
    )


@pytest.mark.parametrize("name", SABOTAGES)
def test_a_sabotage_is_caught(name: str) -> None:
    """NORMAL, an answer before the commit, no receipt, no digest check, a stray open(), a log recovered after a
    failed sync, no mark of it: each is noticed, as a broken promise and not as a crash of the laboratory."""
    done = run(name)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout.startswith("noticed: "), done.stdout


@pytest.mark.parametrize("name", SABOTAGES)
def test_the_product_itself_passes_what_caught_the_sabotage(name: str) -> None:
    """The same laboratory on the product as it is notices nothing."""
    done = run(name + "!")
    assert (done.returncode, done.stdout) == (0, "nothing was noticed\n"), done.stdout + done.stderr


def test_nobody_gets_the_write_lock_inside_a_commit(bench: Path) -> None:
    """Nothing that the product does between BEGIN and COMMIT lets go of SQLite's locks (E16)."""
    assert nobody_gets_in(bench, 20) >= 20


@pytest.mark.parametrize("count", [250, pytest.param(10_000, marks=pytest.mark.long)], ids=["quick", "full"])
def test_each_flipped_bit_that_a_reader_would_see_is_named(bench: Path, count: int) -> None:
    """A row whose text, kind, time, parent or bytes changed is never called sound (E13)."""
    changed, named = flip_sweep(bench, count, random.Random(count))
    assert changed >= count // 20
    assert named == changed
