"""Asks a provider from a test: one loop a question, everything it said in a list."""

import asyncio
from contextlib import aclosing
from typing import Any

from sidekeep.providers.base import (
    Finished,
    Message,
    ModelRequest,
    Provider,
    ProviderBinding,
    StreamEvent,
    TextBlock,
    TextDelta,
)

KEY = "sk-canary-5f1c"


def binding(url: str, kind: str = "openai", **members: Any) -> ProviderBinding:
    """A binding with one key by the name `key`."""
    return ProviderBinding(kind=kind, connection_id="here", base_url=url, credentials=["key"], **members)


def resolve(name: str) -> str:
    assert name == "key"
    return KEY


def request(text: str = "Say hello.", **members: Any) -> ModelRequest:
    return ModelRequest(model_id="m", messages=[Message("user", [TextBlock(text)])], **members)


def ask(provider: Provider, asked: ModelRequest | None = None) -> list[StreamEvent]:
    """All events of one answer; the provider is closed afterwards. Raises what the provider raises."""

    async def run() -> list[StreamEvent]:
        try:
            async with aclosing(provider.stream(asked or request())) as stream:
                return [event async for event in stream]
        finally:
            await provider.aclose()

    return asyncio.run(run())


def said(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def end(events: list[StreamEvent]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]
