"""A client that comes back after a power cut and sends all its commands again."""

import random
from pathlib import Path
from typing import Any

from durability.disk import Disk
from durability.judge import Broken, Judge, audit
from durability.product import Op, Product
from durability.recorder import MARK
from durability.sweep import Position, cuts, record


def everything_again(bench: Path, *, seed: int, commands: int, every: int) -> int:
    """Cut, open, send every command again in order: acknowledged ones get the stored answer, and nothing is
    there twice. Returns how many images were tried. Raises Broken."""
    recording = record(bench / "recorded", seed, commands)
    disk, at, dice = Disk(), Position(), random.Random(seed)
    judge = Judge(bench / "image")
    tried = changes = 0
    for number, note in enumerate(recording.notes):
        if note.kind == MARK:
            at.feed(note)
            continue
        disk.feed(note)
        changes += at.opened
        if not at.opened or changes % every:
            continue
        for _, image in cuts(disk, dice, 3):
            judge.put(image)
            _send_again(judge, recording.sent, dict(at.acknowledged), seed + number)
            tried += 1
    return tried


def _send_again(judge: Judge, ops: list[Op], acknowledged: dict[str, str], seed: int) -> None:
    product = Product(judge.places, seed=seed)
    try:
        first = [product.do(op) for op in ops]
        counts = _counts(product)
        for op, answer in zip(ops, first, strict=True):
            text = acknowledged.get(op["submissionId"])
            if text is not None and (answer.get("_text") != text or not answer["_replayed"]):
                raise Broken(f"the acknowledged command {op['submissionId']} was done again")
        second = [product.do(op) for op in ops]
        for op, before, after in zip(ops, first, second, strict=True):
            if not before.get("retryable") and before.get("_text") != after.get("_text"):
                raise Broken(f"{op['type']} was answered in two ways")
        if not any(answer.get("retryable") for answer in first) and counts != _counts(product):
            raise Broken(f"sending again changed the store: {counts} then {_counts(product)}")
        wrong = audit(product.store.db)
        if wrong:
            raise Broken("; ".join(wrong[:5]))
    finally:
        product.close()


def _counts(product: Product) -> dict[str, Any]:
    tables = ("threads", "nodes", "runs", "command_receipts", "changes", "memories", "folders", "presets", "rules")
    return {table: product.tx().one(f"SELECT count(*) FROM {table}") for table in tables}
