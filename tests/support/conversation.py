"""A conversation told in a JSON file, put into a real store, and what a model reads of it as plain values.

{"what": "...", "at": "a2", "vision": false,
 "nodes": [{"is": "u1", "under": null, "type": "user_message", "payload": {…}, "deleted": true?}, …],
 "attachments": [{"id", "kind", "mime", "text" | "base64", "state": "stored"?, "meta"?, "trust"?, "provenance"?}],
 "messages": [["user", "text", …], {"role": …}], "turns": [0], "turnContext": null, "path": ["u1", …]}
"""

import base64
import hashlib
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from sidekeep.model.places import Places
from sidekeep.providers.base import ContextText, ImageBlock, Message
from sidekeep.store import threads, tree
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import Store, open_store
from sidekeep.store.tx import Tx
from sidekeep.turns.context import SessionContext, session_context

NAMES = uuid.UUID("6f2c1c52-7d5b-4a3e-9c39-0b1d6a5a9b11")


def id_of(name: str) -> str:
    """The UUID of a node or thread that a test calls by a name."""
    return str(uuid.uuid5(NAMES, name))


@contextmanager
def opened(state: Path) -> Iterator[tuple[Store, Doorway]]:
    """A store in a folder of its own, and its doorway."""
    store = open_store(Places(str(state)))
    try:
        yield store, Doorway(store)
    finally:
        store.close()


def tell(doorway: Doorway, told: dict[str, Any], thread: str = "thread") -> None:
    """Put the conversation into the store."""
    doorway.run(lambda tx: _write(tx, told, thread))


def _write(tx: Tx, told: dict[str, Any], thread: str) -> bool:
    row = threads.create(tx, {"id": id_of(thread)})
    for attachment in told.get("attachments", ()):
        _attach(tx, attachment)
    keys: dict[str | None, int | None] = {None: None}
    for node in told["nodes"]:
        made = tree.append(tx, row, keys[node["under"]], node["type"], node["payload"], node_id=id_of(node["is"]))
        keys[node["is"]] = made.k
        if node.get("deleted"):
            tx.run("UPDATE nodes SET deleted = 1 WHERE k = ?", (made.k,))
        if "damaged" in node:
            tx.run("UPDATE nodes SET payload = ? WHERE k = ?", (node["damaged"], made.k))
    return True


def _attach(tx: Tx, given: dict[str, Any]) -> None:
    data = given["text"].encode() if "text" in given else base64.b64decode(given["base64"])
    digest = hashlib.sha256(data).hexdigest()
    state = given.get("state", "stored")
    blob = None
    if state == "stored":
        tx.run(
            "INSERT INTO blobs (sha256, size, created_at, used_at) VALUES (?, ?, ?, ?)",
            (digest, len(data), tx.now, tx.now),
        )
        blob = tx.insert_key()
        # Two chunks, as a longer one has.
        for index, piece in enumerate((data[:7], data[7:])):
            tx.run("INSERT INTO blob_chunks (k, bytes) VALUES (?, ?)", (blob << 20 | index, piece))
    tx.run(
        "INSERT INTO attachments (id, blob, state, kind, mime, size, sha256, trust, provenance, created_at, meta) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            given["id"], blob, state, given["kind"], given["mime"], len(data), digest, given.get("trust", "untrusted"),
            given.get("provenance", "page"), tx.now, json.dumps(given["meta"]) if "meta" in given else None,
        ),
    )  # fmt: skip


def context_at(store: Store, name: str | None, *, vision: bool = False, thread: str = "thread") -> SessionContext:
    """What is derived at a node, with the nonces 000000000001, 000000000002 …"""
    numbers = count(1)
    tx = Tx(store.db, 0, lambda: "")
    key = None
    if name is not None:
        row = tx.thread(id_of(thread))
        assert row is not None
        key = tree.find(tx, row, id_of(name)).k
    return session_context(tx, key, vision=vision, nonce=lambda: f"{next(numbers):012d}")


def plain(message: Message) -> dict[str, Any]:
    """A message as a golden file has it: absent and empty members left out."""
    said: dict[str, Any] = {"role": message.role}
    if message.content:
        said["content"] = [_plain_block(block) for block in message.content]
    if message.tool_calls:
        said["toolCalls"] = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    others = {
        "toolCallId": message.tool_call_id,
        "failed": message.failed,
        "reasoning": message.reasoning,
        "providerState": message.provider_state,
    }
    return {**said, **{name: value for name, value in others.items() if value}}


def _plain_block(block: Any) -> Any:
    if isinstance(block, ImageBlock):
        return {"image": block.mime, "base64": base64.b64encode(block.data).decode()}
    if isinstance(block, ContextText):
        return {"context": block.whole}
    return block.text
