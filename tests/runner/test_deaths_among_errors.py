"""kill -9 of runners and hosts while the endpoint answers with errors: what lies on the disk stays whole."""

import random
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import pytest

from durability.judge import audit
from sidekeep.model.places import Places
from sidekeep.store.opener import open_store
from support.runners import kill_runner, processes_of, runner_of, until
from support.stores import Store, text

MODEL = "angry-1"
STATUSES = (429, 500, 503, 529, 502)


class Angry:
    """An endpoint that refuses every call, each with another status, and counts them."""

    def __init__(self) -> None:
        self.calls = 0
        numbers = count()
        ours = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                body = b'{"error": {"message": "not now", "type": "server_error"}}'
                self.send_response(STATUSES[next(numbers) % len(STATUSES)])
                self.send_header("Content-Type", "application/json")
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                ours.calls += 1

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def connection(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        return {"id": "angry", "name": "Angry", "kind": "openai", "baseUrl": url, "modelIds": [MODEL], "enabled": True}

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def angry() -> Iterator[Angry]:
    """Gone after the test."""
    server = Angry()
    yield server
    server.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("deaths", [8, pytest.param(200, marks=pytest.mark.long)])
def test_errors_and_deaths_leave_the_store_whole(running_store: Store, angry: Angry, deaths: int) -> None:
    """429 and 5xx at every call, and a death at a random moment of each: every question is there once, no run is left
    at work, integrity and digests are clean (E19)."""
    moments = random.Random(19)
    overrides = {"model": {"connectionId": "angry", "modelId": MODEL}}
    host = running_store.open()
    client = host.client_id
    host.ack("connection.save", connection=angry.connection)
    asked: dict[str, tuple[str, str]] = {}
    for number in range(deaths):
        thread = str(host.ack("thread.create")["threadId"])
        words = f"question {number}"
        ack = host.ack("turn.submit", threadId=thread, input=text(words), overrides=overrides)
        asked[thread] = (str(ack["runId"]), words)
        before = angry.calls
        until(lambda before=before: angry.calls > before or runner_of(running_store.state) is None, "a refused call")
        time.sleep(moments.uniform(0, 0.05))  # the moment of the death
        if number % 2:
            host.kill()
            host = running_store.open(client_id=client)
        else:
            kill_runner(running_store.state)
    open_states = {"queued", "preparing", "streaming_model", "executing_tool"}
    for thread, (run, _words) in asked.items():
        host.ack("turn.interrupt", threadId=thread)
        until(
            lambda run=run: host.query("run.get", runId=run)["run"]["state"] not in open_states,
            f"the end of run {run}",
        )
    for thread, (_run, words) in asked.items():
        nodes = host.query("thread.subscribe", threadId=thread)["nodes"]
        said = [node["payload"]["content"][0]["text"] for node in nodes if node["type"] == "user_message"]
        assert said == [words]
    running_store.close()
    assert processes_of(running_store.state) == []
    store = open_store(Places(str(running_store.state)))
    try:
        assert audit(store.db) == []
    finally:
        store.close()
