"""Endpoints that speak OpenAI's chat completions: OpenAI, OpenRouter, Ollama, LM Studio, llama.cpp, vLLM and others."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from msgspec import UNSET, UnsetType

from sidekeep.model.errors import ProviderProtocol
from sidekeep.providers.addresses import checked
from sidekeep.providers.base import ModelInfo, ModelRequest, ProviderBinding, Resolve, SecretHeader, StreamEvent
from sidekeep.providers.http import HttpEndpoint, Patience
from sidekeep.providers.openai_request import body_of
from sidekeep.providers.openai_stream import Collector

_OWN_ORIGIN = "https://api.openai.com"


class OpenAIProvider:
    """One connection. Raises InvalidCommand for an address that may not be used."""

    def __init__(
        self,
        binding: ProviderBinding,
        resolve: Resolve,
        headers: Mapping[str, str | SecretHeader],
        patience: Patience | None = None,
    ) -> None:
        address = checked(binding.base_url, "/v1", ("/chat/completions", "/models"))
        self._quirks = binding.quirks
        self._max_tokens = "max_completion_tokens" if address.origin == _OWN_ORIGIN else "max_tokens"
        self._http = HttpEndpoint(binding, resolve, headers, address, _authorise, patience)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Ask. A stream is whole with a known finish reason and `[DONE]`."""
        body = body_of(request, self._quirks, self._max_tokens)
        async with self._http.ask("POST", "chat/completions", body) as answer:
            think_tags = bool(self._quirks.get("thinkTags"))
            collector = Collector(self._http.who, answer.redact, think_tags=think_tags)
            whole = False
            async with aclosing(self._http.events(answer)) as events:
                async for event in events:
                    if event.data.strip() == "[DONE]":
                        whole = True
                        break
                    for said in collector.take(event.data):
                        yield said
                if not whole and not (self._quirks.get("noEndMark") and collector.finished):
                    raise ProviderProtocol(f"The answer of {self._http.who} broke off before its end mark.")
                for said in collector.end():
                    yield said
                await self._http.drain(events)

    async def models(self) -> list[ModelInfo]:
        """What the endpoint lists, in its order, with what it tells of each."""
        listed = await self._http.get("models")
        entries = listed.get("data", listed.get("models")) if isinstance(listed, dict) else listed
        if not isinstance(entries, list):
            raise ProviderProtocol(f"{self._http.who} did not answer with a list of models.")
        return [_info(entry) for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]

    async def aclose(self) -> None:
        """Let the connections go."""
        await self._http.aclose()


def _authorise(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def _info(entry: dict[str, Any]) -> ModelInfo:
    """What OpenRouter, vLLM and llama.cpp tell beyond the id."""
    meta = entry["meta"] if isinstance(entry.get("meta"), dict) else {}
    shape = entry["architecture"] if isinstance(entry.get("architecture"), dict) else {}
    windows = (entry.get("context_length"), entry.get("max_model_len"), meta.get("n_ctx"), meta.get("n_ctx_train"))
    name = entry.get("name")
    return ModelInfo(
        id=entry["id"],
        display_name=name if isinstance(name, str) and name else UNSET,
        tool_use=_contains(entry.get("supported_parameters"), "tools"),
        vision=_contains(shape.get("input_modalities"), "image"),
        max_context=next((int(window) for window in windows if isinstance(window, int) and window > 0), UNSET),
    )


def _contains(values: Any, wanted: str) -> bool | UnsetType:
    return wanted in values if isinstance(values, list) else UNSET
