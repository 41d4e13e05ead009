"""`connection.save`, `connection.list`, `connection.delete`; `connection.models` and `connection.verify` are jobs."""

from typing import Any

from sidekeep.commands import jobs
from sidekeep.commands.context import Context, given
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.model.installed import local_model
from sidekeep.model.ops.setup import (
    ConnectionDelete,
    ConnectionList,
    ConnectionModels,
    ConnectionSave,
    ConnectionVerify,
)
from sidekeep.model.templates import TEMPLATES
from sidekeep.store import connections
from sidekeep.store.tx import Tx

_CREDENTIAL_WORDS = ("authorization", "api-key", "apikey", "token", "secret", "password", "cookie", "credential")


def save(tx: Tx, _op: ConnectionSave, ctx: Context) -> dict[str, Any]:
    connection = ctx.plain["connection"]
    for name, value in (connection.get("headers") or {}).items():
        if isinstance(value, str) and any(word in name.lower() for word in _CREDENTIAL_WORDS):
            raise InvalidCommand(
                f"connection.headers.{name}: looks like a credential; "
                'store it with secret.set and name it as {"secret": …}.'
            )
    if connection["kind"] in ("openai", "anthropic"):
        _check_address(connection.get("baseUrl"))
    return {"connectionId": connections.save(tx, connection)}


def _check_address(address: object) -> None:
    from sidekeep.model.addresses import judged  # what reads addresses is slow to import, and few ops need it

    if not isinstance(address, str) or not address:
        raise InvalidCommand("connection.baseUrl: is missing.")
    judged(address)


def listing(tx: Tx, _op: ConnectionList, _ctx: Context) -> dict[str, Any]:
    return {"connections": [_with_parts(connection) for connection in connections.listing(tx)], "templates": TEMPLATES}


def _with_parts(connection: dict[str, Any]) -> dict[str, Any]:
    """The local model says whether what it needs is there: without it the panel offers extracts and says how."""
    return {**connection, "installed": local_model()} if connection["kind"] == "local" else connection


def delete(tx: Tx, op: ConnectionDelete, _ctx: Context) -> dict[str, Any]:
    connections.delete(tx, op.connection_id)
    return {}


def models(tx: Tx, op: ConnectionModels, ctx: Context) -> dict[str, Any]:
    return _ask(tx, op, ctx)


def verify(tx: Tx, op: ConnectionVerify, ctx: Context) -> dict[str, Any]:
    return _ask(tx, op, ctx)


def _ask(tx: Tx, op: ConnectionModels | ConnectionVerify, ctx: Context) -> dict[str, Any]:
    """The job of the op's own name."""
    if connections.get(tx, op.connection_id) is None:
        raise NotFound(f"No connection {op.connection_id}.")
    params = {"connectionId": op.connection_id}
    model_id = given(op.model_id)
    if model_id is not None:
        params["modelId"] = model_id
    kind = "connection.models" if isinstance(op, ConnectionModels) else "connection.verify"
    return jobs.begin(tx, ctx, kind, params)
