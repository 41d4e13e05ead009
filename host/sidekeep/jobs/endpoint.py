"""A connection as a job asks it: its provider, lent by the runner, and what a person said of its models."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sidekeep.jobs.work import Work
from sidekeep.model.environment import binding_of
from sidekeep.model.errors import NotFound, ProviderNetwork
from sidekeep.providers.base import ModelInfo, Provider
from sidekeep.store import connections
from sidekeep.store.tx import Tx
from sidekeep.turns.environment_build import bind_secrets
from sidekeep.turns.models import Endpoint


async def begun(work: Work, total: int) -> dict[str, Any]:
    """The job's connection, switched on or not; its secrets are bound to its origin, as a first use does.

    Raises NotFound, also for a secret, and NeedsPermission for a secret that belongs to another origin.
    """

    def bound(tx: Tx) -> None:
        bind_secrets(tx, _connection(tx, work.params["connectionId"]))

    await work.step(work.position, done=work.done, total=total, note="asking", write=bound)
    connection: dict[str, Any] = await work.read(lambda tx: _connection(tx, work.params["connectionId"]))
    return connection


def _connection(tx: Tx, connection_id: str) -> dict[str, Any]:
    connection = connections.get(tx, connection_id)
    if connection is None:
        raise NotFound(f"The connection {connection_id} was removed.")
    return {**connection, "id": connection_id}


@asynccontextmanager
async def asked(work: Work, connection: dict[str, Any]) -> AsyncIterator[Provider]:
    """The connection's provider. Raises InvalidCommand for an address that may not be used."""
    key, provider = work.models.take(Endpoint(binding_of(connection), dict(connection.get("headers") or {})))
    try:
        yield provider
    finally:
        work.models.give_back(key)


async def listed(provider: Provider, seconds: float) -> list[ModelInfo]:
    """The endpoint's own list. Raises ProviderError; one that is silent for so long is not reached."""
    try:
        async with asyncio.timeout(seconds):
            return await provider.models()
    except TimeoutError:
        raise ProviderNetwork(f"The endpoint did not answer within {seconds:g} s.") from None


def described(connection: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a person said of models, by id, those that are only named included."""
    found: dict[str, dict[str, Any]] = {name: {"id": name} for name in connection.get("modelIds") or ()}
    found.update({model["id"]: dict(model) for model in connection.get("models") or ()})
    return found
