"""A client that knows only the contract: starts the real host, speaks frames to it, waits for what it says.

    with HostClient(state) as host:            # the process is started, nothing is sent
        host.initialize()                       # -> the `initialized` event
        host.ready()                            # -> `store.ready`
        thread = host.ack("thread.create", title="Plans")["threadId"]
        data = host.query("thread.list")
        host.event("thread.created", where=lambda e: e["thread"]["id"] == thread)

It checks what it reads: every byte of the host's output must belong to a frame of at most 1 MiB that
holds one JSON object. It imports nothing of the product, and waits without sleeping.
"""

import base64
import contextlib
import hashlib
import json
import os
import struct
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

TOP = Path(__file__).resolve().parents[2]
FRAME_LIMIT = 1_048_576
ANSWERS = ("command.ack", "command.rejected", "result", "pong", "initialized", "fatal.reload_required")

Event = dict[str, Any]
T = TypeVar("T")


def fixed_origin() -> str:
    """The origin of the project's extension, worked out from its public key."""
    der = base64.b64decode((TOP / "manifests" / "extension-key.txt").read_text("ascii"))
    digits = hashlib.sha256(der).hexdigest()[:32]
    return "chrome-extension://" + "".join(chr(ord("a") + int(digit, 16)) for digit in digits) + "/"


def host_command() -> list[str]:
    """The installed `sidekeep-host` of the environment that runs the tests."""
    return [str(Path(sys.executable).parent / "sidekeep-host")]


def frame(body: bytes) -> bytes:
    """A message as it goes through the pipe."""
    return struct.pack("=I", len(body)) + body


class HostTimeout(AssertionError):
    """What was waited for did not come; the text says what did."""


class Rejected(AssertionError):
    """An op was refused where the test wanted it done."""

    def __init__(self, answer: Event) -> None:
        super().__init__(f"{answer['code']}: {answer['message']}")
        self.answer = answer
        self.code: str = answer["code"]


class HostClient:
    """One host process and one client on its port."""

    def __init__(
        self,
        state: Path | str,
        *,
        client_id: str | None = None,
        arguments: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        timeout: float = 20,
    ) -> None:
        """`arguments` default to the accepted origin; `env` is added to this process's environment."""
        self.client_id = client_id or str(uuid.uuid4())
        self.timeout = timeout
        self.events: list[Event] = []  # everything that came, in order, parts joined
        self.frame_sizes: list[int] = []
        self.faults: list[str] = []  # what in the output was no frame of the contract
        self._answers: dict[str, list[Event]] = {}
        self._taken: set[int] = set()
        self._stderr: list[bytes] = []
        self._parts: dict[str, dict[int, str]] = {}
        self._ended = False
        self._news = threading.Condition()
        self._sending = threading.Lock()
        given = [fixed_origin()] if arguments is None else list(arguments)
        self.process = subprocess.Popen(
            [*(command or host_command()), *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "SIDEKEEP_STATE": str(state), **(env or {})},
            bufsize=0,
        )
        self._readers = [
            threading.Thread(target=target, daemon=True, name=target.__name__)
            for target in (self._read_output, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()

    # --- asking ---

    def initialize(self, *, subscribe: str | None = None, timeout: float | None = None, **members: Any) -> Event:
        """Opens the port and returns the answer, whichever it is."""
        if subscribe is not None:
            members["subscribe"] = {"threadId": subscribe}
        opening = {"protocol": "sidekeep/1", "schemaHash": "*", "clientId": self.client_id, **members}
        return self.ask("initialize", timeout=timeout, **opening)

    def ready(self, timeout: float | None = None) -> Event:
        """Waits for the store and returns `store.ready`."""
        return self.event("store.ready", timeout=timeout)

    def send(self, op: str, /, **members: Any) -> str:
        """Sends an op without waiting; returns its submissionId (a new one unless given)."""
        message = {"type": op, "submissionId": str(uuid.uuid4()), **members}
        self.write(frame(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")))
        return str(message["submissionId"])

    def answer(self, submission_id: str, *, timeout: float | None = None, nth: int = 0) -> Event:
        """The answer to an op that was sent (`nth`: counted from 0, when it was sent more than once)."""

        def look() -> Event | None:
            answers = self._answers.get(submission_id, [])
            return answers[nth] if len(answers) > nth else None

        return self._wait(look, f"an answer to {submission_id}", timeout)

    def ask(self, op: str, /, *, timeout: float | None = None, **members: Any) -> Event:
        """Sends an op and returns its answer, whichever it is."""
        submission = members.get("submissionId")
        earlier = len(self._answers.get(submission, [])) if submission else 0
        return self.answer(self.send(op, **members), timeout=timeout, nth=earlier)

    def ack(self, op: str, /, *, timeout: float | None = None, **members: Any) -> Event:
        """Sends a command; its acknowledgement, else Rejected."""
        answer = self.ask(op, timeout=timeout, **members)
        if answer["type"] == "command.rejected":
            raise Rejected(answer)
        assert answer["type"] == "command.ack", answer
        return answer

    def query(self, op: str, /, *, timeout: float | None = None, **members: Any) -> Any:
        """Sends a query; its data, else Rejected."""
        answer = self.ask(op, timeout=timeout, **members)
        if answer["type"] == "command.rejected":
            raise Rejected(answer)
        assert answer["type"] == "result", answer
        return answer["data"]

    def refused(self, op: str, /, *, timeout: float | None = None, **members: Any) -> Event:
        """Sends an op that has to be refused; the refusal."""
        answer = self.ask(op, timeout=timeout, **members)
        assert answer["type"] == "command.rejected", answer
        return answer

    # --- listening ---

    def event(
        self,
        kind: str,
        *,
        where: Callable[[Event], bool] = lambda _: True,
        timeout: float | None = None,
        **members: Any,
    ) -> Event:
        """The first event of this type (with these members, and `where`) that was not returned before."""

        def look() -> Event | None:
            for index, event in enumerate(self.events):
                if index in self._taken or event["type"] != kind:
                    continue
                if all(event.get(name) == value for name, value in members.items()) and where(event):
                    self._taken.add(index)
                    return event
            return None

        return self._wait(look, f"{kind} {members or ''}", timeout)

    def seen(self, kind: str, **members: Any) -> list[Event]:
        """Every event of this type that came so far, without waiting."""
        with self._news:
            found = [event for event in self.events if event["type"] == kind]
        return [event for event in found if all(event.get(name) == value for name, value in members.items())]

    def until(self, look: Callable[[list[Event]], Any], what: str, timeout: float | None = None) -> Any:
        """Waits until `look`, given all events so far, returns something true; returns that."""
        return self._wait(lambda: look(self.events) or None, what, timeout)

    @property
    def stderr(self) -> str:
        """What the host has said on stderr."""
        return b"".join(self._stderr).decode("utf-8", "replace")

    # --- the raw pipe and the process ---

    def write(self, data: bytes) -> None:
        """Raw bytes to the host's input, framed or not. BrokenPipeError when it is closed."""
        assert self.process.stdin is not None
        with self._sending:
            view = memoryview(data)
            while view:
                view = view[self.process.stdin.write(view) or 0 :]

    def close_input(self) -> None:
        """Ends the host's input, as a browser does that closes the port."""
        assert self.process.stdin is not None
        with self._sending, contextlib.suppress(OSError):
            self.process.stdin.close()

    def wait_end(self, timeout: float | None = None) -> int:
        """Waits for the process; its exit status, with all its output read."""
        try:
            status = self.process.wait(self.timeout if timeout is None else timeout)
        except subprocess.TimeoutExpired:
            raise HostTimeout(f"the host did not end; {self._story()}") from None
        # A runner that inherited a pipe would hold it open: that is a fault to be seen.
        for reader in self._readers:
            reader.join(5)
        return status

    def kill(self) -> None:
        """kill -9, and the end of its output."""
        self.process.kill()
        self.wait_end()
        self.close_input()

    def close(self) -> None:
        """Ends the input, waits for the process, and checks that only frames came."""
        self.close_input()
        try:
            self.wait_end()
        except HostTimeout:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            for pipe in (self.process.stdout, self.process.stderr):
                if pipe is not None:
                    pipe.close()
        assert not self.faults, self.faults

    def __enter__(self) -> "HostClient":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:  # the test has failed already: its own words are the ones to read
            with contextlib.suppress(AssertionError):
                self.process.kill()
                self.close()

    # --- inside ---

    def _wait(self, look: Callable[[], T | None], what: str, timeout: float | None) -> T:
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        with self._news:
            while (found := look()) is None:
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    raise HostTimeout(f"no {what}; {self._story()}")
                self._news.wait(left)
        return found

    def _story(self) -> str:
        last = [json.dumps(event)[:300] for event in self.events[-8:]]
        state = "its output has ended" if self._ended else "it still runs"
        return "\n  ".join([f"{state}, faults {self.faults}, last events:", *last, "stderr:", self.stderr[-2000:]])

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        try:
            while header := self._exactly(4, or_end=True):
                (size,) = struct.unpack("=I", header)
                if not 0 < size <= FRAME_LIMIT:
                    self.faults.append(f"a frame of {size} bytes (its header {header!r})")
                    return
                self.frame_sizes.append(size)
                self._take(self._exactly(size))
        except (EOFError, ValueError, OSError) as fault:
            self.faults.append(f"{type(fault).__name__}: {fault}")
        finally:
            with self._news:
                self._ended = True
                self._news.notify_all()

    def _exactly(self, count: int, or_end: bool = False) -> bytes:
        assert self.process.stdout is not None
        found = b""
        while len(found) < count:
            piece = self.process.stdout.read(count - len(found))
            if not piece:
                # A host that is killed may leave half a frame; one that ends by itself may not.
                if (or_end and not found) or self.process.wait() < 0:
                    return b""
                raise EOFError(f"the output ended inside a frame, after {found[:40]!r}")
            found += piece
        return found

    def _take(self, body: bytes) -> None:
        if not body:
            return
        event = json.loads(body)
        if type(event) is not dict or type(event.get("type")) is not str:
            raise ValueError(f"no event: {body[:200]!r}")
        if event["type"] == "part":
            pieces = self._parts.setdefault(event["id"], {})
            pieces[event["index"]] = event["data"]
            if len(pieces) < event["count"]:
                return
            del self._parts[event["id"]]
            event = json.loads("".join(pieces[index] for index in range(event["count"])))
        with self._news:
            self.events.append(event)
            if event["type"] in ANSWERS and "submissionId" in event:
                self._answers.setdefault(event["submissionId"], []).append(event)
            self._news.notify_all()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError, OSError):
            while piece := self.process.stderr.read(65536):
                self._stderr.append(piece)
