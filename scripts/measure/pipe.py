"""A host in a pipe and a client that costs little: frames are counted by how they begin, not decoded."""

import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sidekeep.model.ids import new_id
from sidekeep.wire.origins import EXTENSION_ID

ORIGIN = f"chrome-extension://{EXTENSION_ID}/"
ACK = b'{"type":"command.ack"'
REJECTED = b'{"type":"command.rejected"'
TEXT = "A message of the usual length, some words long. " * 10


def frame(message: Mapping[str, Any]) -> bytes:
    """A message as it goes through the pipe."""
    body = json.dumps(message, ensure_ascii=False).encode()
    return struct.pack("=I", len(body)) + body


def append(thread_id: str) -> dict[str, Any]:
    """A `node.append` of about 600 bytes, with an id of its own."""
    return {
        "type": "node.append",
        "submissionId": new_id(),
        "threadId": thread_id,
        "nodeType": "user_message",
        "payload": {"content": [{"type": "text", "text": TEXT}]},
    }


class PipeHost:
    """One process that speaks frames; `sidekeep-host` unless told otherwise."""

    def __init__(self, state: Path, command: Sequence[str] | None = None) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [*(command or [str(Path(sys.executable).with_name("sidekeep-host"))]), ORIGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "SIDEKEEP_STATE": str(state)},
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._rest = b""
        self._waiting: list[bytes] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self) -> None:
        """From `initialize` to `store.ready`."""
        self.send({"type": "initialize", "submissionId": new_id(), "protocol": "sidekeep/1", "schemaHash": "*",
                   "clientId": new_id()})  # fmt: skip
        self.until("store.ready")

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._in, view) :]

    def send(self, message: Mapping[str, Any]) -> None:
        self.write(frame(message))

    def frames(self) -> list[bytes]:
        """The bodies of at least one whole frame. Raises EOFError."""
        while True:
            if self._waiting:
                found, self._waiting = self._waiting, []
                return found
            piece = os.read(self._out, 1 << 18)
            if not piece:
                raise EOFError("the host has ended")
            data, at = self._rest + piece, 0
            while len(data) - at >= 4:
                end = at + 4 + int.from_bytes(data[at : at + 4], sys.byteorder)
                if len(data) < end:
                    break
                self._waiting.append(data[at + 4 : end])
                at = end
            self._rest = data[at:]

    def until(self, kind: str, where: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """The next event of a type; what comes with it in one go is read later."""
        while True:
            found = self.frames()
            for index, body in enumerate(found):
                event: dict[str, Any] = json.loads(body)
                if event["type"] == "command.rejected":
                    raise RuntimeError(f"refused: {event}")
                if event["type"] == kind and where(event):
                    self._waiting = found[index + 1 :] + self._waiting
                    return event

    def answered(self, submission: str) -> bytes:
        """The answer to an op that was sent, as it came."""
        name = submission.encode()
        while True:
            found = self.frames()
            for index, body in enumerate(found):
                if name in body[:200]:
                    self._waiting = found[index + 1 :] + self._waiting
                    return body

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Sends an op and waits for its answer: `command.ack`, or the data of a `result`."""
        submission = str(message.get("submissionId") or new_id())
        self.send({**message, "submissionId": submission})
        event: dict[str, Any] = json.loads(self.answered(submission))
        if event["type"] == "command.rejected":
            raise RuntimeError(f"refused: {event}")
        return event

    def rate(self, messages: Sequence[Mapping[str, Any]], depth: int) -> float:
        """Acknowledged commands a second with `depth` of them in flight."""
        bodies = [frame(message) for message in messages]
        started, sent, done = time.perf_counter(), 0, 0
        while done < len(bodies):
            wanted = min(len(bodies), done + depth)
            if wanted > sent:
                self.write(b"".join(bodies[sent:wanted]))
                sent = wanted
            for body in self.frames():
                if body.startswith(ACK):
                    done += 1
                elif body.startswith(REJECTED):
                    raise RuntimeError(body.decode())
        return len(bodies) / (time.perf_counter() - started)

    def close(self) -> None:
        """Ends the input and waits for the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def __enter__(self) -> "PipeHost":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
