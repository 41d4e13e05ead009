"""A real HTTP server on loopback that plays answers byte by byte, as the far end of a model endpoint.

    with ScriptedServer() as server:
        server.play(*stream(delta("Hel"), delta("lo"), stop(), DONE))     # the next request gets this
        … ask server.url …
        server.requests[0].json["messages"]

An answer is a list of steps: bytes are written as they are (one packet each), HANG waits until the client goes
away, CLOSE and RESET end the connection, a threading.Event is waited for, a function is called with the request
and gives further steps. Every request plays the next answer; one without an answer is a fault of the test.
"""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

HANG, CLOSE, RESET = "hang", "close", "reset"
DONE = "[DONE]"
PATIENCE = 20.0

Step = Any  # bytes | threading.Event | HANG | CLOSE | RESET | Callable[[Request], Iterable[Step]]


class Request:
    """One request as it came; `gone` is set when the client closed before the answer's end."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes, connection: int) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.connection = connection
        self.gone = threading.Event()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer:
    """Listens from the start to `close`; used as a context."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self._answers: list[list[Step]] = []
        self._news = threading.Condition()
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    @property
    def url(self) -> str:
        """The base URL of a connection to it."""
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *steps: Step) -> None:
        """What the next request without an answer gets."""
        with self._news:
            self._answers.append(list(steps))

    def request(self, number: int, timeout: float = PATIENCE) -> Request:
        """The request with this number (from 0), once it has come."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.requests) > number, timeout), f"no request {number}"
            return self.requests[number]

    def close(self) -> None:
        """End everything, and check that the script was followed."""
        for each in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(PATIENCE)
        assert not self.faults, self.faults

    def __enter__(self) -> "ScriptedServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- inside ---

    def _start(self, work: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._connections.append(connection)
                self._start(self._serve, connection, len(self._connections) - 1)

    def _serve(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), connection:
            held = b""
            while True:
                request, held = _read_request(connection, held, number)
                if request is None:
                    return
                with self._news:
                    self.requests.append(request)
                    answer = self._answers.pop(0) if self._answers else None
                    self._news.notify_all()
                if answer is None:
                    self.faults.append(f"{request.method} {request.path} has no answer in the script")
                    return
                if not self._play(connection, request, answer):
                    return

    def _play(self, connection: socket.socket, request: Request, steps: Iterable[Step]) -> bool:
        """Whether the connection can be used again."""
        for step in steps:
            if step == HANG:
                with contextlib.suppress(OSError):
                    while connection.recv(65536):
                        pass
                request.gone.set()
                return False
            if step == RESET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            if step == CLOSE:
                return False
            if isinstance(step, threading.Event):
                assert step.wait(PATIENCE)
            elif callable(step):
                if not self._play(connection, request, step(request)):
                    return False
            else:
                try:
                    connection.sendall(step)
                except OSError:
                    request.gone.set()
                    raise
        return True


def _read_request(connection: socket.socket, held: bytes, number: int) -> tuple[Request | None, bytes]:
    while b"\r\n\r\n" not in held:
        piece = connection.recv(65536)
        if not piece:
            return None, b""
        held += piece
    head, _, held = held.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    size = int(headers.get("content-length", "0"))
    while len(held) < size:
        held += connection.recv(65536)
    return Request(method, path, headers, held[:size], number), held[size:]


# --- answers ---


def head(status: int = 200, headers: dict[str, str] | None = None, kind: str = "text/event-stream") -> bytes:
    """The head of an answer whose body comes in chunks."""
    fields = {"content-type": kind, "transfer-encoding": "chunked", **(headers or {})}
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One piece of such a body."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


END = b"0\r\n\r\n"


def event(data: Any, name: str = "") -> bytes:
    """One event; anything but text is written as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + b"data: " + text.encode() + b"\n\n"


def stream(*data: Any, end: bool = True) -> list[Step]:
    """A whole answer of events, each in a packet of its own; `end=False` leaves the body open."""
    return [head(), *(chunk(event(each)) for each in data), *([END] if end else [])]


def split(data: bytes, size: int) -> list[Step]:
    """A body of bytes in packets of this size."""
    return [head(), *(chunk(data[at : at + size]) for at in range(0, len(data), size)), END]


def document(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> list[Step]:
    """An answer of one JSON document (or bytes, as they are)."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return [head(status, headers, "application/json") + chunk(body) + END]


def delta(content: str | None = None, **members: Any) -> dict[str, Any]:
    """A chunk of a chat completion."""
    said = {**({} if content is None else {"content": content}), **members}
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def stop(reason: str = "stop") -> dict[str, Any]:
    """The chunk that says why the answer ended."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(sent: int = 7, written: int = 2, **more: Any) -> dict[str, Any]:
    """The chunk with the figures."""
    return {"choices": [], "usage": {"prompt_tokens": sent, "completion_tokens": written, **more}}


def chat(*texts: str) -> list[Step]:
    """A whole chat completion that says these texts."""
    return stream(*(delta(text) for text in texts), stop(), usage(), DONE)


def messages_events(*events: dict[str, Any]) -> Iterator[bytes]:
    """Events of Anthropic's protocol: each is named by its type."""
    for each in events:
        yield event(each, each["type"])
