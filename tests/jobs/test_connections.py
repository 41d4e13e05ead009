"""`connection.models` and `connection.verify` against endpoints that answer well, badly, and not at all."""

import json
import socket
from typing import Any

import pytest

from support.hostclient import HostClient
from support.llamaserver import LlamaServer
from support.scripted import CLOSE, DONE, ScriptedServer, document, stream
from support.stores import Store

MODELS = {"object": "list", "data": [{"id": "m1", "object": "model"}, {"id": "m2", "object": "model"}]}


def save(host: HostClient, url: str, **members: Any) -> None:
    host.ack(
        "connection.save",
        connection={"id": "far", "name": "Far", "kind": "openai", "baseUrl": url, "enabled": True, **members},
    )


def run(host: HostClient, op: str, **members: Any) -> dict[str, Any]:
    job_id = host.ack(op, connectionId="far", **members)["jobId"]
    end = host.event("job.done", jobId=job_id, timeout=120)
    assert end["state"] == "done", end
    report: dict[str, Any] = end["data"]
    return report


def steps(report: dict[str, Any]) -> dict[str, Any]:
    return {step["name"]: step["ok"] or step.get("code", "untried") for step in report["steps"]}


def words(text: str, finish: str = "stop") -> list[Any]:
    delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return stream(delta, end, DONE)


def call(arguments: str = '{"text":"ready"}') -> list[Any]:
    made = {"index": 0, "id": "c1", "type": "function", "function": {"name": "echo", "arguments": arguments}}
    delta = {"choices": [{"index": 0, "delta": {"tool_calls": [made]}}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return stream(delta, end, DONE)


def test_all_four_steps(running_store: Store, server: ScriptedServer) -> None:
    """Reached, key taken, streamed, and the echo tool called with its result sent back under the call's id."""
    host = running_store.open()
    save(host, server.url)
    server.play(*document(MODELS))
    server.play(*words("Ready."))
    server.play(*call())
    server.play(*words("It gave ready."))
    report = run(host, "connection.verify")
    assert steps(report) == {"reachable": True, "key": True, "streaming": True, "tools": True}
    assert report["ok"]
    assert all(isinstance(step["ms"], int) for step in report["steps"])
    asked = [json.loads(request.body) for request in server.requests[1:]]
    assert [ask["model"] for ask in asked] == ["m1", "m1", "m1"]
    assert asked[1]["tools"][0]["function"]["name"] == "echo"
    call_made, result = asked[2]["messages"][-2:]
    assert call_made["tool_calls"][0]["id"] == result["tool_call_id"]
    assert "ready" in json.dumps(result["content"])


def test_a_model_that_calls_no_tool(running_store: Store, server: ScriptedServer) -> None:
    """A model that answers in words still answers: the connection is fine, and the step says what is not."""
    host = running_store.open()
    save(host, server.url, models=[{"id": "mine"}])
    server.play(*document(MODELS))
    server.play(*words("Ready."))
    server.play(*words("I cannot."))
    report = run(host, "connection.verify")
    assert steps(report) == {"reachable": True, "key": True, "streaming": True, "tools": "provider_protocol"}
    assert report["ok"]
    assert json.loads(server.requests[1].body)["model"] == "mine"


def test_a_model_without_tools(running_store: Store, server: ScriptedServer) -> None:
    """A model that is described as one without tools is not asked to call one."""
    host = running_store.open()
    save(host, server.url, models=[{"id": "plain", "capabilities": {"toolUse": False}}])
    server.play(*document(MODELS))
    server.play(*words("Ready."))
    assert run(host, "connection.verify", modelId="plain")["ok"]
    assert len(server.requests) == 2


def test_a_wrong_key(running_store: Store, server: ScriptedServer) -> None:
    """The endpoint is reached, the key is not taken, and nothing further is asked."""
    host = running_store.open()
    host.ack("secret.set", name="key", value="wrong")
    save(host, server.url, secretRefs=["key"])
    server.play(*document({"error": {"message": "bad key"}}, 401))
    report = run(host, "connection.verify")
    assert steps(report) == {"reachable": True, "key": "provider_auth", "streaming": "untried", "tools": "untried"}
    assert not report["ok"]
    assert "wrong" not in json.dumps(report)


def test_an_endpoint_without_a_list(running_store: Store, server: ScriptedServer) -> None:
    """An endpoint that offers no list of models is reached; its key is tried by the first answer."""
    host = running_store.open()
    save(host, server.url, modelIds=["named"], models=[{"id": "named", "capabilities": {"toolUse": False}}])
    server.play(*document({"error": {"message": "not here"}}, 404))
    server.play(*words("Ready."))
    report = run(host, "connection.verify")
    assert steps(report) == {"reachable": True, "key": True, "streaming": True, "tools": True}


def test_an_answer_that_breaks_off(running_store: Store, server: ScriptedServer) -> None:
    """A stream without its end is named as what it is."""
    host = running_store.open()
    save(host, server.url)
    server.play(*document(MODELS))
    server.play(*stream({"choices": [{"index": 0, "delta": {"content": "Rea"}}]}, end=False), CLOSE)
    report = run(host, "connection.verify")
    assert steps(report)["streaming"] in ("provider_network", "provider_protocol")
    assert not report["ok"]


def test_nobody_there(running_store: Store) -> None:
    """An address at which nobody listens is not reached; the models that were named by hand are still listed."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        host = running_store.open()
        save(host, url, modelIds=["mine"])
        report = run(host, "connection.verify")
        assert steps(report)["reachable"] == "provider_network"
        listed = run(host, "connection.models")
    assert listed["models"] == [{"id": "mine"}]
    assert [error["code"] for error in listed["errors"]] == ["provider_network"]


def test_a_secret_that_is_not_there(running_store: Store, server: ScriptedServer) -> None:
    """Without its secret nothing is sent anywhere."""
    host = running_store.open()
    save(host, server.url, secretRefs=["missing"])
    report = run(host, "connection.verify")
    assert steps(report)["key"] == "not_found"
    assert not report["ok"]
    assert [error["code"] for error in run(host, "connection.models")["errors"]] == ["not_found"]
    assert server.requests == []


def test_a_secret_of_another_origin(running_store: Store, server: ScriptedServer) -> None:
    """E72: a key that was first used with one endpoint is never sent to another."""
    host = running_store.open()
    host.ack("secret.set", name="key", value="sk-canary")
    save(host, server.url, secretRefs=["key"])
    server.play(*document(MODELS))
    assert run(host, "connection.models")["errors"] == []
    with ScriptedServer() as other:
        save(host, other.url, secretRefs=["key"])
        assert [error["code"] for error in run(host, "connection.models")["errors"]] == ["needs_permission"]
        assert other.requests == []


def test_what_is_offered_and_what_was_said(running_store: Store, server: ScriptedServer) -> None:
    """What a person said of a model goes before what the endpoint says; one model can be asked for alone."""
    host = running_store.open()
    save(host, server.url, models=[{"id": "m2", "displayName": "Mine", "capabilities": {"vision": True}}])
    server.play(*document(MODELS))
    report = run(host, "connection.models")
    assert {model["id"] for model in report["models"]} == {"m1", "m2"}
    mine = next(model for model in report["models"] if model["id"] == "m2")
    assert (mine["displayName"], mine["capabilities"]["vision"]) == ("Mine", True)
    server.play(*document(MODELS))
    assert [model["id"] for model in run(host, "connection.models", modelId="m1")["models"]] == ["m1"]
    server.play(*document(MODELS))
    assert run(host, "connection.models", modelId="m3") == {
        "models": [],
        "errors": [{"code": "not_found", "message": "The endpoint does not offer the model m3."}],
    }


@pytest.mark.model
def test_a_real_server(running_store: Store) -> None:
    """Against a real server with a real key: with it the connection answers, with another one it does not."""
    with LlamaServer() as llama:
        host = running_store.open()
        host.ack("secret.set", name="good", value=llama.key)
        host.ack("secret.set", name="bad", value="sk-wrong")
        plain = [{"id": llama.model, "capabilities": {"toolUse": False}}]
        save(host, llama.url, secretRefs=["good"], models=plain)
        offered = run(host, "connection.models")
        assert offered["errors"] == []
        assert llama.model in {model["id"] for model in offered["models"]}
        assert run(host, "connection.verify")["ok"]
        save(host, llama.url, secretRefs=["bad"], models=plain)
        report = run(host, "connection.verify")
        assert not report["ok"]
        assert "provider_auth" in steps(report).values()
