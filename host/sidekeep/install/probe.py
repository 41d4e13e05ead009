"""Starts the host as a browser would, with nothing in its environment, and shakes hands with it."""

import struct
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sidekeep.model import ids

PROTOCOL = "sidekeep/1"
ANSWER_SECONDS = 10.0
# A browser kills a host that is still there two seconds after it closed the pipes.
LEAVE_SECONDS = 2.0


@dataclass(frozen=True)
class Handshake:
    """What became of it: `fault` is a sentence, or None when all went well."""

    fault: str | None = None
    version: str = ""
    answer_ms: float = 0.0
    leave_ms: float = 0.0


def shake_hands(launcher: Path, origin: str) -> Handshake:
    """Launches, sends `initialize` and `ping`, ends the input, and waits for the process to leave."""
    begun = time.monotonic()
    try:
        process = subprocess.Popen(
            [launcher, origin],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            cwd=launcher.parent,
        )
    except OSError as error:
        return Handshake(f"it cannot be started ({error.strerror or error})")
    # Whatever happens, no process of ours is left behind, and reading its pipes comes to an end.
    watchdog = threading.Timer(ANSWER_SECONDS, process.kill)
    watchdog.start()
    try:
        return _talk(process, begun)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _talk(process: "subprocess.Popen[bytes]", begun: float) -> Handshake:
    stdin = process.stdin
    assert stdin is not None
    hello = {
        "type": "initialize", "submissionId": ids.new_id(), "protocol": PROTOCOL, "schemaHash": "*",
        "clientId": ids.new_id(),
    }  # fmt: skip
    try:
        for op in (hello, {"type": "ping", "submissionId": ids.new_id()}):
            frame = msgspec.json.encode(op)
            stdin.write(struct.pack("=I", len(frame)) + frame)
        stdin.flush()
    except BrokenPipeError:
        return Handshake(_last_words(process, "it ended before it was spoken to"))
    version, answer_ms = "", 0.0
    while True:
        event = _read(process)
        if isinstance(event, str):
            return Handshake(event)
        match event.get("type"):
            case "initialized":
                answer_ms = (time.monotonic() - begun) * 1000
                host = event.get("host")
                version = str(host.get("version")) if isinstance(host, dict) else ""
            case "pong":
                break
            case "error" | "command.rejected" | "fatal.reload_required":
                return Handshake(f"it refused: {event.get('message')}")
    closed = time.monotonic()
    stdin.close()
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        return Handshake("it does not leave when its input ends")
    return Handshake(None, version, answer_ms, (time.monotonic() - closed) * 1000)


def _read(process: "subprocess.Popen[bytes]") -> dict[str, object] | str:
    """The next event, or a sentence that says why there is none."""
    assert process.stdout is not None
    head = process.stdout.read(4)
    if len(head) < 4:
        return _last_words(process, "it ended without an answer")
    length = struct.unpack("=I", head)[0]
    if length > 1_048_576:
        return f"it wrote text where a message belongs: {head!r}"
    body = process.stdout.read(length)
    try:
        event = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return "it wrote a message that is not JSON"
    return event if isinstance(event, dict) else "it wrote a message that is no object"


def _last_words(process: "subprocess.Popen[bytes]", what: str) -> str:
    assert process.stderr is not None
    process.kill()
    lines = process.stderr.read().decode(errors="replace").strip().splitlines()
    return f"{what} ({lines[-1]})" if lines else what
