"""The long crash sweep: seed after seed, until so many images were opened or the time is over."""

import json
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from durability.judge import Broken, Judge
from durability.sweep import record, sweep

COMMANDS = 64
IMAGES_EACH = 12


def fast_folder() -> Path:
    """A new folder in memory where there is one: what a disk does is modelled, so that no real one has to wait."""
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="sidekeep-laboratory-", dir=shared if shared.is_dir() else None))


def run(images: int, seconds: float, first_seed: int, report: Path) -> dict[str, Any]:
    """Writes its figures to `report` (JSON) as it goes, and returns them; a broken promise ends it."""
    folder = fast_folder()
    began, tells = time.monotonic(), time.monotonic()
    figures: dict[str, Any] = {"class": "crash sweep", "broken": None, "images": 0, "commands": 0, "recordings": 0}
    seed = first_seed
    try:
        while figures["images"] < images and time.monotonic() - began < seconds:
            before = figures["images"]
            recording = record(folder / "recorded", seed, COMMANDS)
            judge = Judge(folder / "image")
            try:
                for done in sweep(recording, judge, seed, IMAGES_EACH):
                    figures["images"] = before + done
                    if figures["images"] >= images or time.monotonic() - began >= seconds:
                        break
                    if time.monotonic() - tells > 10:
                        tells = time.monotonic()
                        _tell(figures, began, seed, report)
            except Broken as broken:
                figures["broken"] = str(broken)
                break
            figures["commands"] += recording.commands
            figures["recordings"] += 1
            shutil.rmtree(folder / "recorded")
            seed += 1
    finally:
        _tell(figures, began, seed, report)
        shutil.rmtree(folder, ignore_errors=True)
    return figures


def _tell(figures: dict[str, Any], began: float, seed: int, report: Path) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = time.monotonic() - began
    figures |= {
        "seconds": round(seconds, 1),
        "cpuSeconds": round(used.ru_utime + used.ru_stime, 1),
        "imagesPerSecond": round(figures["images"] / seconds, 1) if seconds else 0,
        "seed": seed,
    }
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps(figures, indent=1) + "\n")
