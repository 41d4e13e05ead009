"""The crash sweep: record product commands, cut the power after every change in many ways, open what is left."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from durability.disk import Disk, Image
from durability.judge import Broken, Found, Judge, content_digest
from durability.product import Answer, Op, Product
from durability.recorder import MARK, Log, Note, recording
from durability.workload import Workload, runner_step
from sidekeep.model.places import Places
from sidekeep.store import doorway

LOG_BYTES = 512 * 1024
CHECKPOINT_PAGES = 96


@dataclass
class Recording:
    """What was done and seen. `states[i]` is the content after the i-th commit that the outside knows of.

    Marks: `("opened",)`, `("begun", i)` before and `("seen", i, {submissionId: answer})` after the step that
    leads to `states[i]`.
    """

    notes: list[Note]
    states: list[str]
    sent: list[Op] = field(default_factory=list)
    commands: int = 0


@contextmanager
def small_log() -> Iterator[None]:
    """A log that is full after a few commands, so that its reuse and the checkpoints are swept as well."""
    before = doorway.WAL_BYTES, doorway.CHECKPOINT_PAGES
    doorway.WAL_BYTES, doorway.CHECKPOINT_PAGES = LOG_BYTES, CHECKPOINT_PAGES
    try:
        yield
    finally:
        doorway.WAL_BYTES, doorway.CHECKPOINT_PAGES = before


def terminal(answer: Answer) -> str | None:
    """The answer's text where it is final, so that a receipt has to hold it."""
    return None if answer.get("retryable") else answer.get("_text")


def record(folder: Path, seed: int, commands: int) -> Recording:
    """Drive the product through at least so many commands on a recording VFS."""
    log = Log()
    work = Workload(seed)
    states: list[str] = []

    def answered(ops: list[Op], answers: list[Answer]) -> None:
        pairs = zip(ops, answers, strict=True)
        log.mark(
            ("seen", len(states), {op["submissionId"]: kept for op, answer in pairs if (kept := terminal(answer))})
        )

    with small_log(), recording(log) as vfs:
        product = Product(Places(str(folder)), vfs=vfs, seed=seed, answered=answered)
        states.append(content_digest(product.store.db))
        log.mark(("opened",))
        count = 0
        while count < commands:
            log.mark(("begun", len(states)))
            ops = work.group()
            work.learn(ops, product.group(ops))
            states.append(content_digest(product.store.db))
            count += len(ops)
            if work.dice.random() < 0.25:
                # Two transactions of the runner: after the first the store is in a state of its own.
                log.mark(("begun", len(states)))
                _note_states(product, states, log)
            if work.dice.random() < 0.15:
                product.idle()
        product.close()
    return Recording(log.notes, states, work.sent, count)


def _note_states(product: Product, states: list[str], log: Log) -> None:
    unit = product.unit

    def noted(decide):  # type: ignore[no-untyped-def]
        value = unit(decide)
        states.append(content_digest(product.store.db))
        log.mark(("seen", len(states) - 1, {}))
        log.mark(("begun", len(states)))
        return value

    product.unit = noted  # type: ignore[method-assign]
    try:
        runner_step(product)
    finally:
        product.unit = unit  # type: ignore[method-assign]


class Position:
    """What the outside knows at a place in the notes."""

    def __init__(self) -> None:
        self.opened = False
        self.seen = 0
        self.begun = 0
        self.acknowledged: dict[str, str] = {}

    def feed(self, note: Note) -> None:
        what = note.data
        if what[0] == "opened":
            self.opened = True
        elif what[0] == "begun":
            self.begun = what[1]
        elif what[0] == "seen":
            self.seen = what[1]
            self.acknowledged.update(what[2])


def check(found: Found, at: Position, states: list[str]) -> None:
    """Raises Broken: an acknowledged command is lost, or one is half there."""
    if not at.opened:
        if found.threads:
            raise Broken("there are conversations before any command")
        return
    for submission_id, text in at.acknowledged.items():
        if found.receipts.get(submission_id) != text:
            raise Broken(f"the acknowledged command {submission_id} is lost")
    allowed = states[at.seen : max(at.seen, at.begun) + 1]
    if found.content not in allowed:
        raise Broken(f"the store is in none of the {len(allowed)} states that it may be in: a command is half there")


def cuts(disk: Disk, dice: random.Random, most: int) -> Iterator[tuple[str, Image]]:
    """At most so many images of a power cut now, the telling ones first."""
    yield "durable", disk.durable()
    if not disk.pending or most < 2:
        return
    yield "everything", disk.cache()
    pending = disk.prefixes()
    for number in range(most - 2):
        way = number % 3
        if way == 0 and pending > 1:
            keep = dice.randint(1, pending - 1)
            yield f"the first {keep} of {pending}", disk.prefix(keep)
        elif way == 1:
            yield "some", disk.subset(dice)
        else:
            yield "torn", disk.torn(dice)


def sweep(recording: Recording, judge: Judge, seed: int, images_each: int, every: int = 1) -> Iterator[int]:
    """Judge images after every change (or every n-th); yields how many so far. Raises Broken, saying where."""
    disk, at = Disk(), Position()
    dice = random.Random(seed)
    changes = 0
    for number, note in enumerate(recording.notes):
        if note.kind == MARK:
            at.feed(note)
            continue
        disk.feed(note)
        changes += 1
        if changes % every:
            continue
        for name, image in cuts(disk, dice, images_each):
            try:
                check(judge.open(image), at, recording.states)
            except Broken as broken:
                where = f"seed {seed}, note {number} ({note.kind} {note.name}), {name}"
                raise Broken(f"{broken} [{where}]") from broken
        yield judge.images
