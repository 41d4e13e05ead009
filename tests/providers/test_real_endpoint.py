"""A turn through host, vault and runner to a real server that speaks both protocols, with weights and a key."""

from collections.abc import Iterator

import pytest

from support.hostclient import HostClient
from support.llamaserver import LlamaServer
from support.stores import Store, text

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    with LlamaServer() as found:
        yield found


KINDS = pytest.mark.parametrize("kind", ["openai", "anthropic"])


def _connect(host: HostClient, server: LlamaServer, key: str, kind: str) -> None:
    host.ack("secret.set", name="far", value=key)
    host.ack(
        "connection.save",
        connection={"id": "far", "name": "Far", "kind": kind, "baseUrl": server.url, "secretRefs": ["far"],
                    "modelIds": [server.model], "enabled": True},
    )  # fmt: skip
    choice = {"connectionId": "far", "modelId": server.model}
    host.ack("settings.set", patch={"models.default": choice, "models.params": {"maxTokens": 16}})


@KINDS
def test_an_answer_streams_and_is_kept_with_its_figures(running_store: Store, server: LlamaServer, kind: str) -> None:
    host = running_store.open()
    _connect(host, server, server.key, kind)
    thread = host.ack("thread.create", title="Far")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    host.ack("turn.submit", threadId=thread, input=text("Write two sentences about the sea."))
    ended = host.event("turn.complete", threadId=thread, timeout=120)
    assert ended["stopReason"] in ("end", "max_tokens")
    pieces = [event["delta"].get("text", "") for event in host.seen("item.delta", threadId=thread)]
    assert len(pieces) > 1
    nodes = host.query("thread.subscribe", threadId=thread)["nodes"]
    assert nodes[-1]["payload"]["content"][0]["text"] == "".join(pieces)
    assert nodes[-1]["payload"]["model"] == server.model
    usage = host.seen("token.usage", threadId=thread)[-1]["usage"]
    assert usage["inputTokens"] > 5
    assert usage["outputTokens"] > 1


@KINDS
def test_a_wrong_key_is_said_and_never_shown(running_store: Store, server: LlamaServer, kind: str) -> None:
    host = running_store.open()
    _connect(host, server, "sk-canary-wrong", kind)
    thread = host.ack("thread.create", title="Far")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    host.ack("turn.submit", threadId=thread, input=text("Hello"))
    ended = host.event("turn.complete", threadId=thread, timeout=60)
    assert (ended["stopReason"], ended["error"]["code"]) == ("error", "provider_auth")
    assert "sk-canary" not in str(host.events)
    for log in (running_store.state / "logs").iterdir():
        assert "sk-canary" not in log.read_text()
