"""A power cut after any change of the store's files, whatever of the unsynced writes reached the disk."""

from pathlib import Path

import pytest

from durability.judge import Judge
from durability.product import Product
from durability.resend import everything_again
from durability.sweep import record, sweep


@pytest.mark.parametrize(
    ("seeds", "every", "images_each", "least"),
    [(range(1, 2), 8, 5, 500), pytest.param(range(1, 7), 3, 12, 20_000, marks=pytest.mark.long)],
    ids=["quick", "full"],
)
def test_no_power_cut_loses_an_acknowledged_command(
    bench: Path, seeds: range, every: int, images_each: int, least: int
) -> None:
    """Every image opens, holds each acknowledged command once, none by half, and its digests hold (E12)."""
    images = commands = 0
    for seed in seeds:
        recording = record(bench / f"recorded-{seed}", seed, 64)
        commands += recording.commands
        for done in sweep(recording, Judge(bench / "image"), seed, images_each, every):
            count = done
        images += count
    assert images >= least
    assert commands >= 60 * len(seeds)


def test_after_a_power_cut_the_same_commands_again_are_done_once(bench: Path) -> None:
    """What was acknowledged is answered from its receipt; what was not is done once; then the cut store equals
    one that was never cut (E34)."""
    assert everything_again(bench, seed=11, commands=30, every=17) >= 12


def test_creating_the_store_survives_a_power_cut_at_every_change(bench: Path) -> None:
    """The first opening leaves an empty store or none; the next opening makes it whole."""
    recording = record(bench / "recorded", 1, 1)
    opened = next(place for place, note in enumerate(recording.notes) if note.data == ("opened",))
    recording.notes = recording.notes[:opened]
    judge = Judge(bench / "image")
    for _ in sweep(recording, judge, 1, 6, every=4):
        pass
    assert judge.images > 300
    product = Product(judge.places)
    assert product.do({"type": "thread.create", "submissionId": "0190a000-0000-7000-8000-000000000001"})["type"] == (
        "command.ack"
    )
    product.close()
