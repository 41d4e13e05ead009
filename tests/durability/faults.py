"""A disk that refuses: one run of commands with a fault at one change, then everything that has to hold."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from durability.disk import Disk
from durability.judge import Broken, Judge, audit
from durability.product import Answer, Op, Product
from durability.recorder import MARK, SYNC, Fault, Log, recording
from durability.sweep import Position, cuts, small_log, terminal
from durability.workload import Workload
from sidekeep.model.places import Places
from sidekeep.store import unsynced

#: What an answer may say while the disk refuses; each may be sent again.
TYPED = frozenset(("storage_full", "store_busy"))


def disk_full() -> apsw.Error:
    return apsw.FullError("the laboratory's disk is full")


def input_output() -> apsw.Error:
    error = apsw.IOError("the laboratory's disk fails")
    error.extendedresult = apsw.SQLITE_IOERR_WRITE
    return error


def failed_sync() -> apsw.Error:
    error = apsw.IOError("the laboratory's disk does not sync")
    error.extendedresult = apsw.SQLITE_IOERR_FSYNC
    return error


ERRORS = {"ENOSPC": disk_full, "EIO": input_output, "fsync": failed_sync}


@dataclass(frozen=True)
class Point:
    """Where and how the disk fails: at the change of this number, once or from then on; or the process dies."""

    number: int
    error: str
    lasting: bool = False
    second: bool = False

    def fault(self) -> Fault:
        """For a failed sync, the first sync at or after the number."""
        failed = False

        def at(count: int, kind: str, _name: str) -> apsw.Error | None:
            nonlocal failed
            if count < self.number or (self.error == "fsync" and kind != SYNC) or (failed and not self.lasting):
                return None
            failed = True
            return ERRORS[self.error]()

        return at


def commands(seed: int, count: int) -> list[Op]:
    """Commands that need nothing of each other's answers: threads with given ids, and what is added to them."""
    work = Workload(seed)
    threads = [work.id() for _ in range(2)]
    ops: list[Op] = [{"type": "thread.create", "submissionId": work.id(), "threadId": thread} for thread in threads]
    for number in range(count - len(ops)):
        op: Op = {"submissionId": work.id(), "threadId": work.dice.choice(threads)}
        if number % 4 == 3:
            op |= {"type": "thread.update", "patch": {"title": work.text(6)}}
        else:
            payload = {"content": [{"type": "text", "text": work.text(work.dice.choice((9, 900)))}]}
            op |= {"type": "node.append", "nodeType": "user_message", "payload": payload}
        ops.append(op)
    return ops


@dataclass
class Course:
    """A run of the commands, `at_once` in a group, on a folder prepared once, with its notes."""

    bench: Path
    ops: list[Op]
    at_once: int = 1
    start: dict[str, bytes] = field(default_factory=dict)

    def prepare(self) -> "Course":
        """A store that is open for the first time, so that a course begins with its first command."""
        folder = self.bench / "prepared"
        Product(Places(str(folder))).close()
        for path in folder.glob("sidekeep.db*"):
            if not path.name.endswith("-shm"):
                self.start[path.name] = path.read_bytes()
        return self

    def fresh(self) -> Path:
        folder = self.bench / "course"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, content in self.start.items():
            (folder / name).write_bytes(content)
        return folder

    def changes(self) -> list[str]:
        """The kinds of change that the commands make, in order, when nothing fails."""
        log, kinds = Log(), []
        log.watch = lambda kind, _name: kinds.append(kind)
        with small_log(), recording(log) as vfs:
            product = Product(Places(str(self.fresh())), vfs=vfs)
            opening = len(kinds)
            self._all(product, [])
            product.close()
        return ["opening"] * opening + kinds[opening:]

    def _all(self, product: Product, second: list[Product]) -> list[Answer]:
        answers = []
        for number, ops in enumerate(self._groups()):
            answers += product.group(ops)
            if number % 5 == 4:
                product.idle()
        return answers

    def _groups(self) -> list[list[Op]]:
        return [self.ops[at : at + self.at_once] for at in range(0, len(self.ops), self.at_once)]

    def run(self, point: Point) -> Log:
        """The commands with the fault; afterwards the disk is well, and everything is sent again. Raises Broken."""
        log = Log()
        with small_log(), recording(log) as vfs:
            folder = Places(str(self.fresh()))
            product = Product(folder, vfs=vfs)
            others = [Product(folder, vfs=vfs, seed=2)] if point.second else []
            log.mark(("opened",))
            log.fault = point.fault()
            self._while_it_fails(product, others, log, point)
            log.fault = None
            final = [(op, (others or [product])[0].do(op)) for op in self.ops]
            for op, answer in final:
                if answer["type"] != "command.ack":
                    raise Broken(f"with a sound disk {op['type']} is refused: {answer['code']}: {answer['message']}")
                log.mark(("seen", 0, {op["submissionId"]: answer["_text"]}))
            check_once(product, self.ops)
            for each in (*others, product):
                each.close()
        return log

    def die(self, number: int, failed_sync_first: bool) -> Log:
        """The process dies at the change of this number (after a sync that failed, if so); another opens the
        store, gets all commands again, acknowledges. Raises Broken."""
        log = Log()

        def fault(count: int, _kind: str, _name: str) -> apsw.Error | None:
            if count == number and failed_sync_first:
                return ERRORS["fsync"]()
            log.dead = log.dead or count >= number
            return None

        with small_log(), recording(log) as vfs:
            folder = Places(str(self.fresh()))
            product = Product(folder, vfs=vfs)
            log.mark(("opened",))
            log.fault = fault
            for op in self.ops:
                answer = product.do(op)
                if log.dead:
                    break
                if answer["type"] == "command.ack":
                    log.mark(("seen", 0, {op["submissionId"]: answer["_text"]}))
            product.abandon()
            if not failed_sync_first:
                # The dead leave no marks; this one was left by the code that ran on after its death.
                unsynced.clear(folder)
            log.revive()
            product = Product(folder, vfs=vfs, seed=2)
            for op in self.ops:
                answer = product.do(op)
                if answer["type"] != "command.ack":
                    raise Broken(f"after the death {op['type']} is refused: {answer['code']}: {answer['message']}")
                log.mark(("seen", 0, {op["submissionId"]: answer["_text"]}))
            check_once(product, self.ops)
            product.close()
        return log

    def _while_it_fails(self, product: Product, others: list[Product], log: Log, point: Point) -> None:
        for number, ops in enumerate(self._groups()):
            for op, first in zip(ops, product.group(ops), strict=True):
                answer = first
                if answer.get("retryable") and not point.lasting:
                    # The fault has passed: the same command again, from whichever process, settles it.
                    answer = (others or [product])[0].do(op)
                    if answer.get("retryable"):
                        raise Broken(f"the next command fails as well: {answer['code']}: {answer['message']}")
                if answer["type"] == "command.ack":
                    log.mark(("seen", 0, {op["submissionId"]: terminal(answer)}))
                elif answer["code"] not in TYPED and not (point.lasting and answer["code"] == "not_found"):
                    raise Broken(f"{op['type']} got {answer['code']}: {answer['message']}")
            if number % 5 == 4:
                product.idle()


def check_once(product: Product, ops: list[Op]) -> None:
    """Each command has had its effect once. Raises Broken."""
    wrong = audit(product.store.db)
    if wrong:
        raise Broken("; ".join(wrong[:5]))
    appends = sum(op["type"] == "node.append" for op in ops)
    (nodes,) = product.tx().one("SELECT count(*) FROM nodes") or (0,)
    (receipts,) = product.tx().one("SELECT count(*) FROM command_receipts") or (0,)
    if nodes != appends or receipts != len(ops):
        raise Broken(f"{appends} messages were sent and {nodes} are there; {len(ops)} commands, {receipts} receipts")


def cut_after(
    log: Log, start: dict[str, bytes], judge: Judge, seed: int, every: int, first: int = 0, reach: int = 1 << 60
) -> Iterator[int]:
    """The power goes at every n-th change of a course that failed (from note `first`, so far as `reach`, and at
    the end): what was acknowledged is there. Raises Broken."""
    disk, at, dice = Disk(start), Position(), random.Random(seed)
    last = max(number for number, note in enumerate(log.notes) if note.kind != MARK)
    for number, note in enumerate(log.notes):
        if note.kind == MARK:
            at.feed(note)
            continue
        disk.feed(note)
        wanted = first <= number <= first + reach and not (number - first) % every
        if not at.opened or not (wanted or number == last):
            continue
        for name, image in cuts(disk, dice, 4):
            try:
                found = judge.open(image)
                for submission_id, text in at.acknowledged.items():
                    if found.receipts.get(submission_id) != text:
                        raise Broken(f"the acknowledged command {submission_id} is lost")
            except Broken as broken:
                raise Broken(f"{broken} [note {number} ({note.kind} {note.name}), {name}]") from broken
        yield judge.images
