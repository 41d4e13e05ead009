"""Endpoints that speak Anthropic's messages."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from msgspec import UNSET

from sidekeep.model.errors import ProviderProtocol
from sidekeep.providers.addresses import checked
from sidekeep.providers.anthropic_request import body_of
from sidekeep.providers.anthropic_stream import Collector
from sidekeep.providers.base import ModelInfo, ModelRequest, ProviderBinding, Resolve, SecretHeader, StreamEvent
from sidekeep.providers.http import HttpEndpoint, Patience

VERSION = "2023-06-01"
_MOST_PAGES = 20


class AnthropicProvider:
    """One connection. Raises InvalidCommand for an address that may not be used."""

    def __init__(
        self,
        binding: ProviderBinding,
        resolve: Resolve,
        headers: Mapping[str, str | SecretHeader],
        patience: Patience | None = None,
    ) -> None:
        address = checked(binding.base_url, "/v1", ("/messages", "/models"))
        if any(name.lower() == "anthropic-version" for name in headers):
            versioned = dict(headers)
        else:
            versioned = {**headers, "anthropic-version": VERSION}
        self._quirks = binding.quirks
        self._http = HttpEndpoint(binding, resolve, versioned, address, _authorise, patience)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Ask. A stream is whole with a known stop reason and `message_stop`."""
        async with self._http.ask("POST", "messages", body_of(request, self._quirks)) as answer:
            collector = Collector(self._http.who, answer.redact, request.model_id)
            async with aclosing(self._http.events(answer)) as events:
                async for event in events:
                    for said in collector.take(event.data):
                        yield said
                    if collector.stopped:
                        break
                for said in collector.end():
                    yield said
                await self._http.drain(events)

    async def models(self) -> list[ModelInfo]:
        """What the endpoint lists, all pages, in its order."""
        found: list[ModelInfo] = []
        path = "models?limit=1000"
        for _ in range(_MOST_PAGES):
            listed = await self._http.get(path)
            entries = listed.get("data") if isinstance(listed, dict) else None
            if not isinstance(entries, list):
                raise ProviderProtocol(f"{self._http.who} did not answer with a list of models.")
            found += [_info(entry) for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
            if not listed.get("has_more") or not isinstance(listed.get("last_id"), str):
                break
            path = f"models?limit=1000&after_id={quote(listed['last_id'], safe='')}"
        return found

    async def aclose(self) -> None:
        """Let the connections go."""
        await self._http.aclose()


def _authorise(key: str) -> dict[str, str]:
    return {"x-api-key": key}


def _info(entry: dict[str, Any]) -> ModelInfo:
    name, window = entry.get("display_name"), entry.get("max_input_tokens")
    return ModelInfo(
        id=entry["id"],
        display_name=name if isinstance(name, str) and name else UNSET,
        tool_use=True,
        vision=True,
        max_context=window if isinstance(window, int) and window > 0 else UNSET,
    )
