"""Sealed secrets: names, ages and ciphertext; a value never comes out of here in clear."""

from typing import Any

import msgspec

from sidekeep.model.errors import NotFound
from sidekeep.store.tx import Tx


def put(tx: Tx, name: str, sealed: bytes) -> None:
    tx.run(
        "INSERT INTO secrets (name, created_at, updated_at, sealed) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at",
        (name, tx.now, tx.now, sealed),
    )
    tx.change("store.changed", id=name, detail={"kind": "secrets", "id": name})


def sealed(tx: Tx, name: str) -> bytes:
    """Raises NotFound."""
    row = tx.one("SELECT sealed FROM secrets WHERE name = ?", (name,))
    if row is None:
        raise NotFound(f"No secret is stored under the name {name}; enter the key again in the settings.")
    return bytes(row[0])


def all_sealed(tx: Tx) -> list[tuple[str, bytes]]:
    """Every secret's name and ciphertext."""
    return [(name, bytes(secret)) for name, secret in tx.all("SELECT name, sealed FROM secrets ORDER BY name")]


def replace_sealed(tx: Tx, name: str, secret: bytes) -> None:
    """The same value under another key: its age stays, and nobody is told."""
    tx.run("UPDATE secrets SET sealed = ? WHERE name = ?", (secret, name))


def bind_origin(tx: Tx, name: str, origin: str) -> str:
    """The origin this secret is bound to: the first it was used with."""
    tx.run("UPDATE secrets SET origin = ? WHERE name = ? AND origin IS NULL", (origin, name))
    row = tx.one("SELECT origin FROM secrets WHERE name = ?", (name,))
    if row is None:
        raise NotFound(f"No secret is stored under the name {name}.")
    return str(row[0])


def delete(tx: Tx, name: str) -> None:
    """Raises NotFound."""
    tx.run("DELETE FROM secrets WHERE name = ?", (name,))
    if tx.changed_rows() != 1:
        raise NotFound(f"No secret is stored under the name {name}.")
    tx.change("store.changed", id=name, detail={"kind": "secrets", "id": name})


def listing(tx: Tx) -> list[dict[str, Any]]:
    """Names, ages, and the connections that use each."""
    used: dict[str, list[str]] = {}
    for connection_id, body in tx.all("SELECT id, body FROM connections"):
        connection = msgspec.json.decode(body)
        names = set(connection.get("secretRefs") or ())
        names |= {value["secret"] for value in (connection.get("headers") or {}).values() if isinstance(value, dict)}
        for name in names:
            used.setdefault(name, []).append(connection_id)
    return [
        {"name": name, "createdAt": created, "updatedAt": updated, "usedBy": sorted(used.get(name, []))}
        for name, created, updated in tx.all("SELECT name, created_at, updated_at FROM secrets ORDER BY name")
    ]
