"""P11 and P13: how late a word or a change is at the other end."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from measure.pipe import PipeHost
from measure.rounds import Figure, percentile, within
from sidekeep.model.ids import new_id

WORDS = 150
EVERY_SECONDS = 0.02


def p11(folder: Path, rounds: int) -> list[Figure]:
    """From a chunk at the provider to a frame on the pipe, and from asking to the first word."""
    with speaking() as address, PipeHost(folder / "p11") as host:
        host.open()
        connection = {"id": "talker", "name": "Talker", "kind": "openai", "baseUrl": address, "modelIds": ["talk"]}
        host.ask({"type": "connection.save", "connection": {**connection, "enabled": True}})
        model = {"connectionId": "talker", "modelId": "talk"}
        host.ask({"type": "settings.set", "patch": {"models.default": model}})
        first: list[float] = []
        late: list[float] = []
        starts: list[float] = []
        for turn in range(rounds + 1):
            thread = host.ask({"type": "thread.create", "title": "Talk"})["threadId"]
            host.ask({"type": "thread.subscribe", "threadId": thread})
            asked = time.perf_counter()
            content = [{"type": "text", "text": "Talk to me."}]
            host.send({"type": "turn.submit", "submissionId": new_id(), "threadId": thread,
                       "input": {"content": content}})  # fmt: skip
            delays = list(_delays(host, thread))
            starts.append((delays[0][1] - asked) * 1000)
            if turn:  # the first has the runner's start in it
                first.append(delays[0][0])
                late += [delay for delay, _ in delays]
            host.ask({"type": "thread.unsubscribe", "threadId": thread})
    return [
        within("P11", "provider's chunk to frame, p95", "ms", percentile(late, 0.95), 20),
        within("P11", "the first chunk to frame, p95", "ms", percentile(first, 0.95), 5),
        within("P11", "asking to first word, runner cold", "ms", starts[0], 400),
        within("P11", "asking to first word, runner warm, p95", "ms", percentile(starts[1:], 0.95), 15),
    ]


def _delays(host: PipeHost, thread: str) -> Iterator[tuple[float, float]]:
    """(how late in ms, when in s) for each stamped word of an answer."""
    rest = ""
    while True:
        for body in host.frames():
            now = time.perf_counter()
            if body.startswith(b'{"type":"item.delta"'):
                rest += json.loads(body)["delta"].get("text") or ""
                *whole, rest = rest.split(" ")
                for word in whole:
                    yield (now - int(word) / 1e9) * 1000, now
            elif body.startswith(b'{"type":"turn.complete"'):
                event = json.loads(body)
                if event["threadId"] == thread:
                    if event["stopReason"] != "end":
                        raise RuntimeError(f"the answer ended otherwise: {event}")
                    return


@contextlib.contextmanager
def speaking() -> Iterator[str]:
    """An OpenAI-compatible endpoint whose words are the times at which they were said."""

    class Speaker(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # as every endpoint does that streams

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not asked.get("stream"):
                self._whole({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Talk"},
                                          "finish_reason": "stop"}]})  # fmt: skip
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with contextlib.suppress(OSError):  # whoever asked has hung up
                self._speak()

        def _speak(self) -> None:
            for _ in range(WORDS):
                self._say({"content": f"{time.perf_counter_ns()} "}, None)
                time.sleep(EVERY_SECONDS)
            self._say({}, "stop")
            self._chunk(b"data: [DONE]\n\n")
            self._chunk(b"")

        def _say(self, delta: dict[str, str], finish: str | None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            body: dict[str, Any] = {"id": "talk", "object": "chat.completion.chunk", "choices": [choice]}
            self._chunk(b"data: " + json.dumps(body).encode() + b"\n\n")

        def _whole(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    with ThreadingHTTPServer(("127.0.0.1", 0), Speaker) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()


def p13(folder: Path, rounds: int) -> list[Figure]:
    """From a host's acknowledgement to another host's event."""
    state = folder / "p13"
    with PipeHost(state) as one, PipeHost(state) as other:
        one.open()
        other.open()
        thread = one.ask({"type": "thread.create", "title": "Shared"})["threadId"]
        heard: list[float] = []
        for number in range(60 * rounds):
            title = f"Shared {number}"
            one.ask({"type": "thread.update", "threadId": thread, "patch": {"title": title}})
            acknowledged = time.perf_counter()
            other.until("thread.updated", lambda event, title=title: event["patch"].get("title") == title)
            heard.append((time.perf_counter() - acknowledged) * 1000)
    return [within("P13", "another host hears of a change, p95", "ms", percentile(heard, 0.95), 5)]
