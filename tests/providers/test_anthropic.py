"""Anthropic's messages against a scripted far end."""

from collections.abc import Iterator
from typing import Any

import pytest

from providers.asking import KEY, ask, binding, end, request, resolve, said
from sidekeep.model.errors import SidekeepError
from sidekeep.providers.anthropic import VERSION, AnthropicProvider
from sidekeep.providers.base import ReasoningDelta, ToolCall
from support.scripted import END, ScriptedServer, chunk, document, head, messages_events


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found


def _provider(server: ScriptedServer) -> AnthropicProvider:
    return AnthropicProvider(binding(server.url, "anthropic"), resolve, {})


def _play(server: ScriptedServer, *events: dict[str, Any]) -> None:
    server.play(head(), *map(chunk, messages_events(*events)), END)


def _start() -> dict[str, Any]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}
    return {"type": "message_start", "message": {"id": "m", "usage": usage}}


def _block(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _stop(reason: str, written: int = 4) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": written}},
        {"type": "message_stop"},
    ]


def test_an_answer_with_thinking_and_its_figures(server: ScriptedServer) -> None:
    _play(
        server,
        _start(),
        _block(0, type="thinking", thinking=""),
        _delta(0, type="thinking_delta", thinking="Hm."),
        _delta(0, type="signature_delta", signature="s1"),
        {"type": "ping"},
        _block(1, type="text", text=""),
        _delta(1, type="text_delta", text="Yes, 話"),
        *_stop("end_turn"),
    )
    events = ask(_provider(server), request(system="Be brief.", params={"reasoningEffort": "high"}))
    assert said(events) == "Yes, 話"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "Hm."
    final = end(events)
    assert (final.stop_reason, final.usage.input_tokens, final.usage.output_tokens) == ("end", 8, 4)
    assert final.provider_state is not None
    assert final.provider_state["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
    asked = server.requests[0]
    assert asked.path == "/v1/messages"
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (KEY, VERSION)
    assert asked.json["system"][0]["text"] == "Be brief."


def test_a_tool_call_comes_once_it_is_whole(server: ScriptedServer) -> None:
    _play(
        server,
        _start(),
        _block(0, type="tool_use", id="t1", name="look", input={}),
        _delta(0, type="input_json_delta", partial_json='{"a"'),
        _delta(0, type="input_json_delta", partial_json=":1}"),
        *_stop("tool_use"),
    )
    events = ask(_provider(server))
    assert [event for event in events if isinstance(event, ToolCall)] == [ToolCall("t1", "look", '{"a":1}')]
    assert end(events).stop_reason == "tool_use"


def test_an_answer_without_its_end_is_none(server: ScriptedServer) -> None:
    _play(server, _start(), _block(0, type="text", text="Half"))
    with pytest.raises(SidekeepError) as refused:
        ask(_provider(server))
    assert refused.value.code == "provider_protocol"


def test_an_error_in_the_middle_has_its_code(server: ScriptedServer) -> None:
    _play(server, _start(), {"type": "error", "error": {"type": "overloaded_error", "message": "Later."}})
    with pytest.raises(SidekeepError) as refused:
        ask(_provider(server))
    assert (refused.value.code, refused.value.retryable) == ("provider_overloaded", True)


def test_a_wrong_key(server: ScriptedServer) -> None:
    server.play(*document({"type": "error", "error": {"type": "authentication_error", "message": f"no {KEY}"}}, 401))
    with pytest.raises(SidekeepError) as refused:
        ask(_provider(server))
    assert refused.value.code == "provider_auth"
    assert KEY not in refused.value.message
