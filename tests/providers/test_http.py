"""What every endpoint over HTTP shares: keys, headers, waiting, connections, proxies."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from providers.asking import ask, request, said
from sidekeep.model.errors import NotFound, SidekeepError, VaultLocked
from sidekeep.providers import faults
from sidekeep.providers.addresses import checked
from sidekeep.providers.base import ModelInfo, ProviderBinding, Resolve, SecretHeader
from sidekeep.providers.faults import Redactor
from sidekeep.providers.http import Patience, _proxy_for
from sidekeep.providers.openai import OpenAIProvider
from support.scripted import DONE, END, HANG, ScriptedServer, chat, chunk, delta, document, event, head, stop, stream

KEYS = {"first": "sk-canary-first", "second": "sk-canary-second"}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found


def _known(name: str) -> str:
    if name not in KEYS:
        raise NotFound(f"No secret is stored under the name {name}.")
    return KEYS[name]


def _provider(
    server: ScriptedServer,
    *names: str,
    resolve: Resolve = _known,
    headers: dict[str, str | SecretHeader] | None = None,
    patience: Patience | None = None,
    **quirks: Any,
) -> OpenAIProvider:
    binding = ProviderBinding(
        kind="openai", connection_id="here", base_url=server.url, credentials=list(names), quirks=quirks
    )
    return OpenAIProvider(binding, resolve, headers or {}, patience)


def _refusal(provider: OpenAIProvider) -> SidekeepError:
    with pytest.raises(SidekeepError) as refused:
        ask(provider)
    assert not any(key in refused.value.message for key in KEYS.values())
    return refused.value


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_refused_key_gives_way_to_the_next(server: ScriptedServer, status: int) -> None:
    """The second key answers the same request, and the next request begins with it."""
    provider = _provider(server, "first", "second")
    server.play(*document({"error": {"message": "no"}}, status))
    server.play(*chat("one"))
    server.play(*chat("two"))

    async def twice() -> list[str]:
        texts = [said([event async for event in provider.stream(request())]) for _ in range(2)]
        await provider.aclose()
        return texts

    assert asyncio.run(twice()) == ["one", "two"]
    sent = [asked.headers["authorization"].removeprefix("Bearer ") for asked in server.requests]
    assert sent == [KEYS["first"], KEYS["second"], KEYS["second"]]


def test_a_key_that_is_gone_gives_way_too(server: ScriptedServer) -> None:
    """A secret that was deleted is passed over; when none is left the request is not sent."""
    server.play(*chat("one"))
    assert said(ask(_provider(server, "gone", "second"))) == "one"
    assert _refusal(_provider(server, "gone")).code == "not_found"
    assert len(server.requests) == 1


def test_a_locked_vault_asks_nobody(server: ScriptedServer) -> None:
    """`vault_locked` comes out as it is, and no request is sent."""

    def locked(_name: str) -> str:
        raise VaultLocked("The vault is locked.")

    assert _refusal(_provider(server, "first", "second", resolve=locked)).code == "vault_locked"
    assert server.requests == []


def test_a_key_is_asked_for_at_each_request(server: ScriptedServer) -> None:
    """A rotated key is used at once."""
    values = iter(("sk-old-value", "sk-new-value"))
    provider = _provider(server, "first", resolve=lambda _name: next(values))
    server.play(*chat("one"))
    server.play(*chat("two"))

    async def twice() -> None:
        for _ in range(2):
            assert [event async for event in provider.stream(request())]
        await provider.aclose()

    asyncio.run(twice())
    assert [asked.headers["authorization"] for asked in server.requests] == [
        "Bearer sk-old-value",
        "Bearer sk-new-value",
    ]


@pytest.mark.parametrize("value", ["sk-line\nX-Evil: 1", "sk-kéy", "\x00", "  "])
def test_a_key_that_no_header_can_carry(server: ScriptedServer, value: str) -> None:
    """It is named by its name, never repeated, and nothing is sent."""
    refused = _refusal(_provider(server, "first", resolve=lambda _name: value))
    assert refused.code == "provider_auth"
    assert "first" in refused.message
    assert value.strip() == "" or value not in refused.message
    assert server.requests == []


def test_no_key_no_header(server: ScriptedServer) -> None:
    """A connection without secrets, as to Ollama, sends no authorization at all."""
    server.play(*chat("one"))
    ask(_provider(server))
    assert "authorization" not in server.requests[0].headers


def test_own_headers_go_first(server: ScriptedServer) -> None:
    """A connection's headers, secret ones too, replace ours whatever their letters' case."""
    server.play(*chat("one"))
    ask(_provider(server, "first", headers={"Authorization": SecretHeader("second"), "X-Title": "Sidekeep"}))
    assert server.requests[0].headers["authorization"] == KEYS["second"]
    assert server.requests[0].headers["x-title"] == "Sidekeep"


def test_one_connection_for_answer_after_answer(server: ScriptedServer) -> None:
    """A whole answer leaves its connection for the next request, also after a refusal."""
    provider = _provider(server, "first")
    server.play(*chat("one"))
    server.play(*document({"error": "busy"}, 503))
    server.play(*chat("two"))

    async def three() -> None:
        assert [event async for event in provider.stream(request())]
        with pytest.raises(SidekeepError):
            assert [event async for event in provider.stream(request())]
        assert [event async for event in provider.stream(request())]
        await provider.aclose()

    asyncio.run(three())
    assert [asked.connection for asked in server.requests] == [0, 0, 0]


def test_the_wait_ends(server: ScriptedServer) -> None:
    """Silence before the first event and between two is a network error within the patience, no hang."""
    patience = Patience(first=0.3, between=0.2)
    server.play(head(), HANG)
    started = time.monotonic()
    assert _refusal(_provider(server, patience=patience)).code == "provider_network"
    assert time.monotonic() - started < 5
    server.play(*stream(delta("Half"), end=False), HANG)
    assert _refusal(_provider(server, patience=patience)).code == "provider_network"
    server.play(HANG)
    assert _refusal(_provider(server, patience=patience)).code == "provider_network"
    server.play(HANG)
    with pytest.raises(SidekeepError) as refused:
        asyncio.run(_listed(_provider(server, patience=Patience(listing=0.3))))
    assert refused.value.code == "provider_network"


async def _listed(provider: OpenAIProvider) -> list[ModelInfo]:
    try:
        return await provider.models()
    finally:
        await provider.aclose()


def test_cancelling_the_task_ends_the_request(server: ScriptedServer) -> None:
    """Cancelled while it waits for the first byte: the far end sees the connection close at once."""
    server.play(HANG)

    async def cancelled() -> float:
        provider = _provider(server)

        async def consume() -> None:
            async for _ in provider.stream(request()):
                pass

        task = asyncio.create_task(consume())
        asked = await asyncio.to_thread(server.request, 0)
        started = time.monotonic()
        task.cancel()
        await asyncio.wait([task])
        assert await asyncio.to_thread(asked.gone.wait, 5)
        took = time.monotonic() - started
        await provider.aclose()
        return took

    assert asyncio.run(cancelled()) < 1.0


def test_an_end_mark_that_the_connection_outlives(server: ScriptedServer) -> None:
    """After `[DONE]` an answer that stays open costs a quarter of a second and is whole."""
    server.play(*stream(delta("one"), stop(), DONE, end=False), HANG)
    assert said(ask(_provider(server))) == "one"
    assert server.requests[0].gone.wait(5)


def test_comments_and_foreign_fields_are_passed_over(server: ScriptedServer) -> None:
    """Keep-alive comments, ids, a byte order mark and a last event without its empty line."""
    body = b"\xef\xbb\xbf: PROCESSING\n\nid: 1\nretry: 5\n\n" + event(delta("one")) + event(stop()) + b"data: [DONE]"
    server.play(head(headers={"content-type": "text/event-stream; charset=iso-8859-1"}), chunk(body), END)
    assert said(ask(_provider(server))) == "one"


def test_the_environment_s_proxies(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """To this machine no proxy is asked, whatever the environment says; https to others goes by HTTPS_PROXY."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.play(*chat("one"))
    assert said(ask(_provider(server, "first"))) == "one"
    far = checked("https://models.example/v1", "/v1", ())
    assert _proxy_for(far) == "http://127.0.0.1:9"
    monkeypatch.setenv("NO_PROXY", "other.example, .example")
    assert _proxy_for(far) is None


def test_an_address_as_it_is_pasted() -> None:
    """A bare host gets the usual path, an operation's path is cut, a query is kept at the end."""
    assert checked("https://api.example", "/v1", ()).at("models") == "https://api.example/v1/models"
    pasted = checked("https://API.example:443/v1/chat/completions/", "/v1", ("/chat/completions",))
    assert pasted.at("models") == "https://api.example/v1/models"
    asked = checked("http://[::1]:8080/openai?version=2", "/v1", ())
    assert asked.at("models?limit=9") == "http://[::1]:8080/openai/models?limit=9&version=2"


def test_how_long_to_wait() -> None:
    """Seconds, milliseconds or a date; nonsense is no figure, nothing is more than a day."""
    now = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
    date = "Tue, 01 Dec 2026 12:00:30 GMT"
    told = [
        faults.retry_after_ms(headers, now)
        for headers in (
            {"retry-after": "2"},
            {"retry-after": "1.5"},
            {"retry-after": date},
            {"retry-after-ms": "250", "retry-after": "9"},
            {"retry-after": "-4"},
            {"retry-after": "soon"},
            {"retry-after": "inf"},
            {"retry-after": "nan"},
            {},
        )
    ]
    assert told == [2000, 1500, 30_000, 250, 0, None, 86_400_000, None, None]


def test_nothing_like_a_key_is_shown() -> None:
    """Values of this request, and what looks like anybody's key, are hidden; other words stay."""
    hidden = Redactor(["p4ssw0rd"])
    text = 'p4ssw0rd, Bearer abcdef123456, sk-proj-abcdefghijklmnop, ?key=AbC123&x=1, "basic facts"'
    shown = hidden(text)
    assert not any(part in shown for part in ("p4ssw0rd", "abcdef123456", "abcdefghijklmnop", "AbC123"))
    assert "x=1" in shown


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, "provider_context_too_long"),
        (400, {"error": {"message": "This model's maximum context length is 8192"}}, "provider_context_too_long"),
        (400, {"error": {"type": "exceed_context_size_error", "message": "m"}}, "provider_context_too_long"),
        (400, {"error": {"code": "content_filter", "message": "m"}}, "provider_content_filter"),
        (400, {"error": {"message": "bad parameter"}}, "provider_protocol"),
        (402, {"error": {"message": "no credit"}}, "provider_auth"),
        (404, {"detail": "Not Found"}, "provider_protocol"),
        (413, b"<html>too large</html>", "provider_context_too_long"),
        (429, {"error": {"code": "insufficient_quota", "message": "m"}}, "provider_auth"),
        (429, [{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}], "provider_rate_limit"),
        (500, {"error": "boom"}, "provider_overloaded"),
        (529, {"error": {"type": "overloaded_error", "message": "m"}}, "provider_overloaded"),
        (503, b"", "provider_overloaded"),
        (418, b"\xff\xfe", "provider_protocol"),
    ],
)
def test_what_a_refusal_means(server: ScriptedServer, status: int, body: Any, code: str) -> None:
    """Status and words of the body together give the code."""
    server.play(*document(body, status))
    assert _refusal(_provider(server, "first")).code == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": 429, "message": "slow down"}, "provider_rate_limit"),
        ({"code": "server_error", "message": "m"}, "provider_overloaded"),
        ({"code": 502, "message": "m"}, "provider_overloaded"),
        ("something broke", "provider_protocol"),
    ],
)
def test_an_error_inside_the_stream(server: ScriptedServer, error: Any, code: str) -> None:
    """A chunk that carries an error ends the answer with its code, with status 200 and all."""
    server.play(*stream(delta("Half"), {"error": error}, DONE))
    assert _refusal(_provider(server)).code == code
    server.play(*document({"error": error}))
    assert _refusal(_provider(server)).code == code


def test_a_web_page_is_no_answer(server: ScriptedServer) -> None:
    """The message asks whether the address is right."""
    server.play(head(kind="text/html") + chunk(b"<html>Welcome</html>") + END)
    refused = _refusal(_provider(server))
    assert (refused.code, "address" in refused.message) == ("provider_protocol", True)


@pytest.mark.parametrize(
    ("pieces", "thought", "text"),
    [
        (["<think>Hm", ".</think>\n\nYes."], "Hm.", "Yes."),
        (["<th", "ink>Hm.</th", "ink>", "\n", "Yes."], "Hm.", "Yes."),
        (["No <think>tags</think>"], "", "No <think>tags</think>"),
        (["<think>Never closed"], "Never closed", ""),
        (["<t", "able>"], "", "<table>"),
        (["<"], "", "<"),
    ],
)
def test_thinking_between_tags(server: ScriptedServer, pieces: list[str], thought: str, text: str) -> None:
    """With the quirk `thinkTags` a leading <think> part is thinking, wherever its pieces are cut."""
    server.play(*stream(*map(delta, pieces), stop(), DONE))
    events = ask(_provider(server, thinkTags=True))
    assert said(events) == text
    assert (
        "".join(getattr(event, "text", "") for event in events if type(event).__name__ == "ReasoningDelta") == thought
    )


def test_an_endpoint_without_end_mark(server: ScriptedServer) -> None:
    """Only with its quirk, and only after a finish reason, is an answer whole without `[DONE]`."""
    server.play(*stream(delta("one"), stop()))
    assert _refusal(_provider(server)).code == "provider_protocol"
    server.play(*stream(delta("one"), stop()))
    assert said(ask(_provider(server, noEndMark=True))) == "one"
    server.play(*stream(delta("one")))
    assert _refusal(_provider(server, noEndMark=True)).code == "provider_protocol"


@pytest.mark.parametrize("reason", ["stop", "weird", "tool_calls"])
def test_reasons_that_contradict(server: ScriptedServer, reason: str) -> None:
    """Tool calls without that reason, that reason without tool calls, and unknown reasons fail closed."""
    call = delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"}}])
    server.play(*stream(*([call] if reason == "stop" else [delta("x")]), stop(reason), DONE))
    assert _refusal(_provider(server)).code == "provider_protocol"
