"""A key that is used, wherever it might be left: nothing of the product holds it in clear, whatever goes wrong."""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.hostclient import HostClient
from support.runners import kill_runner, processes_of, runner_of, until
from support.scripted import END, HANG, ScriptedServer, chat, chunk, delta, document, head, messages_events, stream
from support.stores import Store, text

CANARY = "sk-canary-0123456789abcdefXYZ"
#: The key itself, and as what it might be written: JSON in UTF-16, base64 at any place of its three.
SHAPES = [
    CANARY.encode(),
    CANARY.encode("utf-16-le"),
    *(base64.b64encode(b"?" * skip + CANARY.encode())[4 * bool(skip) : -4] for skip in range(3)),
]
_SEARCH = """
import json, os, sys
shapes = [bytes.fromhex(shape) for shape in json.loads(sys.argv[1])]
for folder, _, names in os.walk(sys.argv[2]):
    for name in names:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                body = file.read()
        except OSError:
            continue  # a socket, or gone
        if any(shape in body for shape in shapes):
            print(os.path.join(folder, name))
"""


def in_clear(folder: Path) -> list[str]:
    """The files that hold it; another process reads them, as opening a database here would drop SQLite's locks."""
    shapes = json.dumps([shape.hex() for shape in SHAPES])
    command = [sys.executable, "-c", _SEARCH, shapes, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_the_search_finds_it(tmp_path: Path) -> None:
    """The sieve holds: the key in plain text, in a key's header, and inside a longer base64 text is found."""
    for number, body in enumerate(
        [CANARY.encode(), CANARY.encode("utf-16-le"), *(base64.b64encode(b"x" * n + CANARY.encode()) for n in range(6))]
    ):
        (tmp_path / str(number)).write_bytes(b"before" + body + b"after")
    assert len(in_clear(tmp_path)) == 8


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_key_that_is_used_is_left_nowhere(running_store: Store, kind: str, tmp_path: Path) -> None:
    """Sent to its endpoint in two turns, repeated by an endpoint that refuses it, in the hands of a runner that
    crashes: it is in no file of the store, log, live file, event, and in no process's arguments or environment."""
    state = running_store.state
    host = running_store.open()
    with ScriptedServer() as server:
        thread = _connected(host, server, kind)
        # Used: one whole answer, and one that is under way.
        server.play(*(chat("Fine.") if kind == "openai" else _messages("Fine.")))
        _submit(host, thread)
        assert host.event("turn.complete")["stopReason"] == "end"
        server.play(*document({"error": {"message": f"wrong key {CANARY}", "type": "authentication_error"}}, 401))
        refused = _submit(host, thread)
        assert host.event("turn.complete", runId=refused)["error"]["code"] == "provider_auth"
        said = stream(delta("Once"), end=False) if kind == "openai" else _messages("Once", end=False)
        server.play(*said, HANG)
        running = _submit(host, thread)
        host.event("item.delta", where=lambda e: e["delta"].get("text") == "Once")
        header = "authorization" if kind == "openai" else "x-api-key"
        assert [request.headers[header].removeprefix("Bearer ") for request in server.requests] == [CANARY] * 3
        assert (state / "live").is_dir()
        assert in_clear(tmp_path) == []
        for pid, line in processes_of(state):
            assert CANARY not in line
            assert CANARY.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        # A crash that would leave a core where cores are wanted: no text of it holds the key.
        pid = until(lambda: runner_of(state), "runner")
        os.kill(pid, signal.SIGABRT)
        host.event("run.recovery_required", runId=running)
        kill_runner(state)
    assert in_clear(tmp_path) == []
    assert CANARY not in json.dumps(host.events)
    assert CANARY not in host.stderr


def _connected(host: HostClient, server: ScriptedServer, kind: str) -> str:
    host.ack("secret.set", name="key", value=CANARY)
    host.ack("settings.set", patch={"titles.model": False})
    connection: dict[str, Any] = {
        "id": "far", "name": "Far", "kind": kind, "baseUrl": server.url, "secretRefs": ["key"], "enabled": True,
    }  # fmt: skip
    host.ack("connection.save", connection=connection)
    thread: str = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    return thread


def _submit(host: HostClient, thread: str) -> str:
    overrides = {"model": {"connectionId": "far", "modelId": "m"}}
    run: str = host.ack("turn.submit", threadId=thread, input=text("Hello"), overrides=overrides)["runId"]
    return run


def _messages(words: str, *, end: bool = True) -> list[Any]:
    """The same in Anthropic's events."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}},
    ]
    if end:
        events += [
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
            {"type": "message_stop"},
        ]
    return [head(), *map(chunk, messages_events(*events)), *([END] if end else [])]
