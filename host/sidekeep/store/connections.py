"""Connections to model endpoints: the two that are there from the start, and those a person saved."""

from typing import Any

import msgspec

from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.store.tx import Tx, dumps

BUILT_IN: dict[str, dict[str, Any]] = {
    "local": {
        "id": "local",
        "name": "Local model",
        "kind": "local",
        "enabled": True,
        "models": [
            {
                "id": "smollm2-135m-instruct",
                "displayName": "SmolLM2 135M (small, often wrong)",
                "capabilities": {"toolUse": False, "vision": False, "reasoning": False, "maxContext": 2048},
            }
        ],
    },
    "extract": {
        "id": "extract",
        "name": "Extract (no model)",
        "kind": "extract",
        "enabled": True,
        "models": [
            {
                "id": "extract",
                "displayName": "Extract of the page, no model",
                "capabilities": {"toolUse": False, "vision": False, "reasoning": False},
            }
        ],
    },
}


def get(tx: Tx, connection_id: str) -> dict[str, Any] | None:
    """The connection as the protocol writes it, with `revision`; None when there is none."""
    row = tx.one("SELECT body, revision FROM connections WHERE id = ?", (connection_id,))
    if row is not None:
        return {**msgspec.json.decode(row[0]), "revision": row[1]}
    return BUILT_IN.get(connection_id)


def listing(tx: Tx) -> list[dict[str, Any]]:
    """All connections, the built-in ones first."""
    saved = {
        row[0]: {**msgspec.json.decode(row[1]), "revision": row[2]}
        for row in tx.all("SELECT id, body, revision FROM connections ORDER BY created_at, id")
    }
    built_in = [saved.pop(name, connection) for name, connection in BUILT_IN.items()]
    return built_in + list(saved.values())


def save(tx: Tx, connection: dict[str, Any]) -> str:
    """Insert or replace; returns the id. Raises InvalidCommand."""
    connection_id = connection.get("id") or tx.new_id()
    if connection_id in BUILT_IN and connection["kind"] != connection_id:
        raise InvalidCommand(f"connection.kind: the built-in connection {connection_id} keeps its kind.")
    body = dumps({**connection, "id": connection_id})
    tx.run(
        "INSERT INTO connections (id, created_at, updated_at, body) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at, "
        "revision = revision + 1",
        (connection_id, tx.now, tx.now, body),
    )
    revision = tx.one("SELECT revision FROM connections WHERE id = ?", (connection_id,))[0]  # type: ignore[index]
    tx.change("store.changed", id=connection_id, revision=revision, detail={"kind": "connections", "id": connection_id})
    return str(connection_id)


def delete(tx: Tx, connection_id: str) -> None:
    """Raises NotFound; a built-in one goes back to what it was."""
    tx.run("DELETE FROM connections WHERE id = ?", (connection_id,))
    if tx.changed_rows() != 1 and connection_id not in BUILT_IN:
        raise NotFound(f"No connection {connection_id}.")
    tx.change("store.changed", id=connection_id, detail={"kind": "connections", "id": connection_id})
