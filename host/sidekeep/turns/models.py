"""The providers that a runner has open: one for each binding, reused between turns, let go when idle."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from sidekeep.model.digests import digest_of
from sidekeep.providers.base import Provider, ProviderBinding, Resolve, SecretHeader
from sidekeep.providers.registry import make_provider

IDLE_SECONDS = 300.0


class Endpoint(NamedTuple):
    """Where a run's model is asked: the snapshot's binding, and the headers that its connection has."""

    binding: dict[str, Any]
    headers: dict[str, Any]


class ModelPool:
    """Used from one loop. `resolve` gives the value behind a secret's name."""

    def __init__(self, resolve: Resolve, log: Callable[[str], None], idle_seconds: float = IDLE_SECONDS) -> None:
        self._resolve = resolve
        self._log = log
        self._idle_seconds = idle_seconds
        self._open: dict[str, Provider] = {}
        self._users: dict[str, int] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def take(self, endpoint: Endpoint) -> tuple[str, Provider]:
        """A provider and the key to give it back with. Raises InvalidCommand for an address that may not be used."""
        key = digest_of([endpoint.binding, endpoint.headers])
        provider = self._open.get(key)
        if provider is None:
            provider = self._open[key] = make_provider(_binding(endpoint), self._resolve, _headers(endpoint))
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        self._users[key] = self._users.get(key, 0) + 1
        return key, provider

    def give_back(self, key: str) -> None:
        """After the last user it is let go once it was idle for a while: the local model's memory with it."""
        self._users[key] -= 1
        if self._users[key] == 0:
            loop = asyncio.get_running_loop()
            self._timers[key] = loop.call_later(self._idle_seconds, self._let_go, key)

    def _let_go(self, key: str) -> None:
        self._timers.pop(key, None)
        provider = self._open.pop(key)
        task = asyncio.get_running_loop().create_task(self._close(provider))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, provider: Provider) -> None:
        try:
            await provider.aclose()
        except Exception as error:
            self._log(f"a provider did not close: {type(error).__name__}: {error}")

    async def aclose(self) -> None:
        """Let all go, whoever uses them."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        providers, self._open = list(self._open.values()), {}
        await asyncio.gather(*(self._close(provider) for provider in providers), *self._closing)


def _binding(endpoint: Endpoint) -> ProviderBinding:
    known = {name: value for name, value in endpoint.binding.items() if name != "headersDigest"}
    return msgspec.convert(known, ProviderBinding)


def _headers(endpoint: Endpoint) -> dict[str, str | SecretHeader]:
    return {
        name: SecretHeader(value["secret"]) if isinstance(value, dict) else str(value)
        for name, value in endpoint.headers.items()
    }
