"""The far end of the network, steered by the test: an OpenAI-compatible endpoint that says what it is told, when told.

    with Steered() as far:
        host.ack("connection.save", connection=far.connection)
        host.ack("turn.submit", …, overrides=far.overrides)
        call = far.call()           # waits for the request
        call.say("Once ")           # one chunk
        call.end()                  # finish reason, usage, the end mark
        assert call.gone.wait(1)    # set when the caller hung up before the end

Calls for a title are answered at once with `title` and kept in `title_calls`.
"""

import json
import select
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from typing import Any

MODEL = "steered-1"
TITLE_WORDS = "Give this conversation a title"


class Call:
    """One request for an answer, open until `end`, `cut` or the caller's hanging up."""

    def __init__(self, body: dict[str, Any], headers: dict[str, str]) -> None:
        self.body = body
        self.headers = headers
        self.at = time.monotonic()
        self.gone = threading.Event()
        self.done: SimpleQueue[bytes | None] = SimpleQueue()

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "system")

    @property
    def said(self) -> list[tuple[str, str]]:
        """The conversation as it was sent: role and text."""
        return [(m["role"], _text(m.get("content"))) for m in self.body["messages"] if m["role"] != "system"]

    def say(self, text: str) -> None:
        self._chunk({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

    def use(self, *tools: tuple[str, Any]) -> None:
        """Ask for tools, and end: each its name and arguments (JSON text as it is, anything else written as JSON)."""
        for index, (name, given) in enumerate(tools):
            arguments = given if isinstance(given, str) else json.dumps(given)
            head = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name}}
            for piece in (head, *({"index": index, "function": {"arguments": half}} for half in _halves(arguments))):
                self._chunk({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]})
        self.end("tool_calls")

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    def end(self, reason: str = "stop", usage: tuple[int, int] = (10, 5)) -> None:
        self._chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        figures = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        self._chunk({"choices": [], "usage": figures})
        self.done.put(b"data: [DONE]\n\n")
        self.done.put(None)

    def cut(self) -> None:
        """The connection breaks in the middle."""
        self.done.put(None)

    def _chunk(self, members: dict[str, Any]) -> None:
        whole = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, **members}
        self.done.put(b"data: " + json.dumps(whole).encode() + b"\n\n")


class Steered:
    """The server. `steady` makes every further call answer itself, piece by piece."""

    def __init__(self) -> None:
        self.title = "Steered title"
        self.title_calls: list[Call] = []
        self.calls: list[Call] = []
        self._new: SimpleQueue[Call] = SimpleQueue()
        self._steady: tuple[list[str], float] | None = None
        self._script: Callable[[Call], None] | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def connection(self) -> dict[str, Any]:
        """To be saved with `connection.save`."""
        model = {"id": MODEL, "capabilities": {"toolUse": False}, "pricing": {"input": 1.0, "output": 2.0}}
        return {
            "id": "steered", "name": "Steered", "kind": "openai", "baseUrl": self.url, "modelIds": [MODEL],
            "models": [model], "enabled": True,
        }  # fmt: skip

    @property
    def with_tools(self) -> dict[str, Any]:
        """The same endpoint with a model that may call tools."""
        model = {"id": MODEL, "capabilities": {"toolUse": True, "vision": True}}
        return {**self.connection, "id": "steered", "models": [model]}

    overrides = {"model": {"connectionId": "steered", "modelId": MODEL}}  # noqa: RUF012

    def steady(self, pieces: list[str], pause: float) -> None:
        """From now on each call says these pieces, `pause` seconds between two, and ends."""
        self._steady = (pieces, pause)

    def play(self, script: Callable[[Call], None]) -> None:
        """From now on each call is answered by `script`, in a thread of its own."""
        self._script = script

    def call(self, timeout: float = 20) -> Call:
        """The next call that nobody has taken yet."""
        try:
            return self._new.get(timeout=timeout)
        except Empty:
            raise AssertionError(f"no call within {timeout} s; so far {len(self.calls)}") from None

    def serve(self, call: Call, wire: socket.socket) -> None:
        """In the connection's thread."""
        if TITLE_WORDS in call.system:
            self.title_calls.append(call)
            call.say(self.title)
            call.end()
        else:
            self.calls.append(call)
            self._new.put(call)
            if self._script is not None:
                threading.Thread(target=self._script, args=(call,), daemon=True).start()
            elif self._steady is not None:
                threading.Thread(target=self._go_on, args=(call, *self._steady), daemon=True).start()
        self._pour(call, wire)

    def _go_on(self, call: Call, pieces: list[str], pause: float) -> None:
        for piece in pieces:
            call.say(piece)
            if call.gone.wait(pause):
                return
        call.end()

    def _pour(self, call: Call, wire: socket.socket) -> None:
        while True:
            try:
                piece = call.done.get(timeout=0.01)
            except Empty:
                readable, _, _ = select.select([wire], [], [], 0)
                if readable and not wire.recv(1, socket.MSG_PEEK):
                    call.gone.set()
                    return
                continue
            if piece is None:
                return
            wire.sendall(piece)

    def __enter__(self) -> "Steered":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for call in self.calls:
            call.done.put(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _handler_of(far: Steered) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            call = Call(body, dict(self.headers.items()))
            try:
                far.serve(call, self.connection)
            except OSError:
                call.gone.set()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    return Handler
