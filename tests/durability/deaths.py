"""Real processes on one store: killed by the system at any moment, or side by side for long."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from durability.judge import Broken, audit
from durability.product import Op, Product
from sidekeep.model.places import Places

TESTS = Path(__file__).resolve().parents[1]


def start(state: Path, seed: int, seconds: float | None = None) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "durability.writer", str(state), str(seed)]
    if seconds is not None:
        words.append(str(seconds))
    return subprocess.Popen(words, cwd=TESTS, stdout=subprocess.PIPE)


def heard(process: "subprocess.Popen[bytes]", stop_at: float | None = None) -> tuple[list[Op], dict[str, str]]:
    """What a writer said: the ops that it sent, and how each was answered. Kills it at that time, if any."""
    assert process.stdout is not None
    sent: list[Op] = []
    answered: dict[str, str] = {}
    killed = stop_at is None
    for line in process.stdout:
        if line.endswith(b"\n"):
            what, value = json.loads(line)
            if what == "sent":
                sent.append(value)
            else:
                answered[value[0]] = value[1] if value[1] == "command.ack" else value[2]
        if not killed and stop_at is not None and time.monotonic() >= stop_at and sent:
            killed = True
            process.kill()
    process.stdout.close()
    process.wait()
    return sent, answered


def check(product: Product, sent: list[Op], answered: dict[str, str]) -> None:
    """What was acknowledged is there; the same commands again are done once. Raises Broken."""
    for submission_id, how in answered.items():
        if how != "command.ack":
            raise Broken(f"a command got {how}")
        row = product.tx().one("SELECT status FROM command_receipts WHERE submission_id = ?", (submission_id,))
        if row != ("acknowledged",):
            raise Broken(f"the acknowledged command {submission_id} is lost")
    for op in sent:
        answer: dict[str, Any] = product.do(op)
        if answer["type"] != "command.ack":
            raise Broken(f"sent again, {op['type']} got {answer['code']}")
        if op["submissionId"] in answered and not answer["_replayed"]:
            raise Broken(f"{op['submissionId']} was done twice")


def kill_sweep(bench: Path, count: int, seed: int) -> tuple[int, int]:
    """Kill so many writers on one store, two at a time. Returns (killed, commands acknowledged). Raises Broken."""
    dice = random.Random(seed)
    state = bench / "killed"
    killed = acknowledged = nodes = 0
    while killed < count:
        pair = [start(state, seed + killed + number) for number in range(2)]
        moment = time.monotonic() + 0.25 + dice.random() * 0.5
        stories = [heard(process, moment) for process in pair]
        killed += 2
        product = Product(Places(str(state)), seed=None)
        try:
            for sent, answered in stories:
                check(product, sent, answered)
                acknowledged += len(answered)
                nodes += sum(op["type"] == "node.append" for op in sent)
            _whole(product, nodes)
        finally:
            product.close()
    return killed, acknowledged


def two_writers(bench: Path, seconds: float, seed: int) -> int:
    """Two writers on one store for so long; returns how many commands they did. Raises Broken."""
    state = bench / "shared"
    pair = [start(state, seed + number, seconds) for number in range(2)]
    stories = [process.communicate()[0] for process in pair]
    commands = nodes = 0
    product = Product(Places(str(state)), seed=None)
    try:
        for story in stories:
            lines = [json.loads(line) for line in story.splitlines()]
            sent = [value for what, value in lines if what == "sent"]
            answered = {
                value[0]: value[1] if value[1] == "command.ack" else value[2]
                for what, value in lines
                if what == "answered"
            }
            if len(answered) != len(sent):
                raise Broken("a writer that nobody killed left a command without an answer")
            check(product, sent[-200:], answered)
            commands += len(sent)
            nodes += sum(op["type"] == "node.append" for op in sent)
        _whole(product, nodes)
    finally:
        product.close()
    return commands


def _whole(product: Product, nodes: int) -> None:
    (found,) = product.tx().one("SELECT count(*) FROM nodes") or (0,)
    if found != nodes:
        raise Broken(f"{nodes} messages were sent and {found} are there")
    wrong = audit(product.store.db)
    if wrong:
        raise Broken("; ".join(wrong[:5]))
