"""A process that sends commands to the store until it is killed or told to stop, and writes down each answer.

    python -m durability.writer STATE SEED [SECONDS]

A line of JSON a command, before it is sent and after it was answered; the reader believes only whole lines.
"""

import json
import sys
import time
import uuid
from typing import Any

from durability.faults import commands
from durability.product import Op, Product
from sidekeep.model.clock import now_ms
from sidekeep.model.places import Places


def tell(what: str, value: Any) -> None:
    sys.stdout.write(json.dumps([what, value]) + "\n")
    sys.stdout.flush()


def main(state: str, seed: int, seconds: float) -> None:
    product = Product(Places(state), seed=None, clock=now_ms)
    end = time.monotonic() + seconds
    batch = 0
    while time.monotonic() < end:
        batch += 1
        for op in _fresh(commands(seed * 100_003 + batch, 12)):
            tell("sent", op)
            answer = product.do(op)
            fault = f"{answer['code']}: {answer['message']}; {product.lines[-3:]}" if "code" in answer else None
            tell("answered", [op["submissionId"], answer["type"], fault])
        product.idle()
    product.close()


def _fresh(ops: list[Op]) -> list[Op]:
    """Ids that no other process makes."""
    threads = {op["threadId"]: str(uuid.uuid4()) for op in ops}
    return [op | {"submissionId": str(uuid.uuid4()), "threadId": threads[op["threadId"]]} for op in ops]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else float("inf"))
