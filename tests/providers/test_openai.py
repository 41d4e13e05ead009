"""Chat completions against a scripted far end: what is sent, what is said, and every way in which it goes wrong."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from providers.asking import KEY, ask, binding, end, request, resolve, said
from sidekeep.model.errors import InvalidCommand, SidekeepError
from sidekeep.providers.base import ModelInfo, ReasoningDelta, TextDelta, ToolCall, ToolSpec
from sidekeep.providers.openai import OpenAIProvider
from support import scripted
from support.scripted import DONE, HANG, RESET, ScriptedServer, chat, delta, document, event, stop, stream, usage


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found


def _provider(server: ScriptedServer, **members: Any) -> OpenAIProvider:
    return OpenAIProvider(binding(server.url, **members), resolve, {})


def test_an_answer_with_its_figures(server: ScriptedServer) -> None:
    server.play(*chat("Hel", "lo 話"))
    events = ask(_provider(server), request(system="Be brief.", params={"temperature": 0.5, "maxTokens": 9}))
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hel", "lo 話"]
    assert (end(events).stop_reason, end(events).usage.input_tokens, end(events).usage.output_tokens) == ("end", 7, 2)
    asked = server.requests[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json["stream"] is True
    assert asked.json["stream_options"] == {"include_usage": True}
    assert asked.json["temperature"] == 0.5
    assert [message["role"] for message in asked.json["messages"]] == ["system", "user"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_of_any_size_make_the_same_answer(server: ScriptedServer, size: int) -> None:
    body = b"".join(event(each) for each in (delta("naïve 話 😀"), delta("\n\ndata: no event"), stop(), usage(), DONE))
    server.play(*scripted.split(body.replace(b"\n\n", b"\r\n\r\n") if size == 7 else body, size))
    assert said(ask(_provider(server))) == "naïve 話 😀\n\ndata: no event"


def test_a_character_that_comes_in_halves_is_whole(server: ScriptedServer) -> None:
    half = b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n'
    body = half % rb"a\ud83d" + half % rb"\ude00b" + b"".join(event(each) for each in (stop(), usage(), DONE))
    server.play(*scripted.split(body, 4096))
    assert said(ask(_provider(server))) == "a😀b"


def test_thinking_is_told_from_the_answer(server: ScriptedServer) -> None:
    server.play(*stream(delta(reasoning_content="Hm."), delta("Yes."), stop(), usage(), DONE))
    events = ask(_provider(server))
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "Hm."
    assert said(events) == "Yes."


def test_a_tool_call_comes_once_it_is_whole(server: ScriptedServer) -> None:
    def call(**function: str) -> dict[str, Any]:
        return delta(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": function}])

    server.play(*stream(call(name="look", arguments=""), call(arguments='{"a":'), call(arguments="1}"),
                        stop("tool_calls"), usage(), DONE))  # fmt: skip
    tool = ToolSpec("look", "Looks.", {"type": "object"})
    events = ask(_provider(server), request(tools=[tool]))
    assert [event for event in events if isinstance(event, ToolCall)] == [ToolCall("c1", "look", '{"a":1}')]
    assert end(events).stop_reason == "tool_use"
    assert server.requests[0].json["tools"][0]["function"]["name"] == "look"


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (401, "provider_auth", False),
        (403, "provider_auth", False),
        (429, "provider_rate_limit", True),
        (500, None, True),
        (503, "provider_overloaded", True),
    ],
)
def test_a_refusal_has_its_code_and_gives_no_key_away(
    server: ScriptedServer, status: int, code: str | None, retryable: bool
) -> None:
    body = {"error": {"message": f"You sent {KEY}, which is not right."}}
    server.play(*document(body, status, {"retry-after": "3"} if status == 429 else None))
    with pytest.raises(SidekeepError) as refused:
        ask(_provider(server))
    assert code is None or refused.value.code == code
    assert refused.value.code.startswith("provider_")
    assert refused.value.retryable is retryable
    assert KEY not in refused.value.message
    if status == 429:
        assert refused.value.extra == {"retryAfterMs": 3000}


def test_no_key_follows_a_redirect(server: ScriptedServer) -> None:
    with ScriptedServer() as other:
        server.play(*document({}, 307, {"location": other.url + "/chat/completions"}))
        with pytest.raises(SidekeepError) as refused:
            ask(_provider(server))
        assert refused.value.code.startswith("provider_")
        assert other.requests == []


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([*stream(delta("Half"), end=False), RESET], "provider_network"),
        (stream(delta("Half")), "provider_protocol"),
        (stream("{no json"), "provider_protocol"),
        (document({"choices": []}), "provider_protocol"),
        ([RESET], "provider_network"),
    ],
    ids=["cut off", "no end", "no JSON", "no events", "closed at once"],
)
def test_an_answer_that_is_none_is_a_typed_error(server: ScriptedServer, steps: list[Any], code: str) -> None:
    server.play(*steps)
    with pytest.raises(SidekeepError) as refused:
        ask(_provider(server))
    assert refused.value.code == code


def test_an_event_without_end_is_refused_before_memory_is_full(server: ScriptedServer) -> None:
    server.play(*scripted.split(b"data: " + b"x" * 40_000_000, 1_000_000)[:-1], HANG)
    with pytest.raises(SidekeepError) as refused:
        ask(_provider(server))
    assert refused.value.code == "provider_protocol"


def test_whoever_stops_listening_ends_the_request_at_once(server: ScriptedServer) -> None:
    server.play(*stream(delta("One"), end=False), HANG)

    async def listen_and_leave() -> None:
        provider = _provider(server)
        answers = provider.stream(request())
        first = await anext(answers)
        assert isinstance(first, TextDelta)
        await answers.aclose()
        assert await asyncio.to_thread(server.requests[0].gone.wait, 5)
        await provider.aclose()

    asyncio.run(listen_and_leave())


def test_nobody_there_is_a_network_error() -> None:
    provider = OpenAIProvider(binding("http://127.0.0.1:9/v1"), resolve, {})
    with pytest.raises(SidekeepError) as refused:
        ask(provider)
    assert (refused.value.code, refused.value.retryable) == ("provider_network", True)


def test_a_key_goes_unencrypted_to_this_machine_only() -> None:
    with pytest.raises(InvalidCommand):
        OpenAIProvider(binding("http://models.example/v1"), resolve, {})
    OpenAIProvider(binding("https://models.example/v1"), resolve, {})


def test_the_models_that_are_offered(server: ScriptedServer) -> None:
    server.play(*document({"data": [{"id": "a"}, {"id": "b"}, {"odd": 1}]}))

    async def listed() -> list[ModelInfo]:
        provider = _provider(server)
        try:
            return await provider.models()
        finally:
            await provider.aclose()

    assert [model.id for model in asyncio.run(listed())] == ["a", "b"]
    assert server.requests[0].path == "/v1/models"
