"""`folder.*` and `preset.*`: named things whose body is kept as it came."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.model.errors import NotFound
from sidekeep.model.ops.setup import FolderDelete, FolderList, FolderSave, PresetDelete, PresetList, PresetSave
from sidekeep.store.tx import Tx, dumps


def _save(tx: Tx, table: str, body: dict[str, Any]) -> tuple[str, int]:
    thing_id = body.get("id") or tx.new_id()
    tx.run(
        f"INSERT INTO {table} (id, updated_at, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "body = excluded.body, updated_at = excluded.updated_at, revision = revision + 1",
        (thing_id, tx.now, dumps({**body, "id": thing_id})),
    )
    (revision,) = tx.one(f"SELECT revision FROM {table} WHERE id = ?", (thing_id,)) or (1,)
    tx.change("store.changed", id=thing_id, revision=revision, detail={"kind": table, "id": thing_id})
    return str(thing_id), int(revision)


def _delete(tx: Tx, table: str, thing_id: str) -> None:
    tx.run(f"DELETE FROM {table} WHERE id = ?", (thing_id,))
    if tx.changed_rows() != 1:
        raise NotFound(f"There is no {table[:-1]} {thing_id}.")
    tx.change("store.changed", id=thing_id, detail={"kind": table, "id": thing_id})


def _list(tx: Tx, table: str) -> list[dict[str, Any]]:
    rows = tx.all(f"SELECT body, revision FROM {table} ORDER BY id")
    return [{**msgspec.json.decode(body), "revision": revision} for body, revision in rows]


def save_folder(tx: Tx, _op: FolderSave, ctx: Context) -> dict[str, Any]:
    folder_id, revision = _save(tx, "folders", ctx.plain["folder"])
    return {"folderId": folder_id, "revision": revision}


def delete_folder(tx: Tx, op: FolderDelete, _ctx: Context) -> dict[str, Any]:
    _delete(tx, "folders", op.folder_id)
    # Its threads stay; they only leave the folder.
    for (thread_id,) in tx.all("SELECT id FROM threads WHERE folder_id = ?", (op.folder_id,)):
        row = tx.thread(thread_id)
        if row is not None:
            row.set("folder_id", None)
    return {}


def list_folders(tx: Tx, _op: FolderList, _ctx: Context) -> dict[str, Any]:
    return {"folders": _list(tx, "folders")}


def save_preset(tx: Tx, _op: PresetSave, ctx: Context) -> dict[str, Any]:
    preset_id, revision = _save(tx, "presets", ctx.plain["preset"])
    return {"presetId": preset_id, "revision": revision}


def delete_preset(tx: Tx, op: PresetDelete, _ctx: Context) -> dict[str, Any]:
    _delete(tx, "presets", op.preset_id)
    return {}


def list_presets(tx: Tx, _op: PresetList, _ctx: Context) -> dict[str, Any]:
    return {"presets": _list(tx, "presets")}
