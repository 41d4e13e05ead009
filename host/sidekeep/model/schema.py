"""The contract as one JSON Schema, made from the structs; its digest is the `schemaHash`."""

import inspect
from typing import Any, get_args

import msgspec

from sidekeep.model import payloads
from sidekeep.model.answers import ACKS, RESULTS
from sidekeep.model.digests import digest_of
from sidekeep.model.entities import ItemKind, RunEnvironmentSnapshot, RunState, ThreadMeta
from sidekeep.model.errors import CODES
from sidekeep.model.events import HostEvent
from sidekeep.model.ops.every import BY_NAME
from sidekeep.model.ops.files import AttachmentKind
from sidekeep.model.ops.threads import AppendPayload, ThreadStatus

# Types without a struct of their own that deserve a name.
ALIASES: dict[str, Any] = {
    "AttachmentKind": AttachmentKind,
    "ItemKind": ItemKind,
    "NodeType": payloads.NodeType,
    "PermissionPolicy": payloads.PermissionPolicy,
    "Provenance": payloads.Provenance,
    "RunState": RunState,
    "StopReason": payloads.StopReason,
    "ThreadStatus": ThreadStatus,
    "Trust": payloads.Trust,
    "ContentBlock": payloads.ContentBlock,
}
EVENTS: tuple[type[msgspec.Struct], ...] = get_args(HostEvent)


# The same for unions that are told apart by a member beside them (a node's type).
UNIONS: dict[str, Any] = {"NodePayload": payloads.NodePayload, "AppendPayload": AppendPayload}


def _structs() -> list[type[msgspec.Struct]]:
    inside: list[type[msgspec.Struct]] = [*payloads.BY_TYPE.values(), RunEnvironmentSnapshot]
    return [*BY_NAME.values(), *EVENTS, *ACKS.values(), *RESULTS.values(), *inside]


def build() -> dict[str, Any]:
    """The schema of every op, event and answer; the same bytes for the same contract."""
    named = [*_structs(), *ALIASES.values()]
    shapes, defs = msgspec.json.schema_components(named, ref_template="#/$defs/{name}")
    defs |= dict(zip(ALIASES, shapes[len(_structs()) :], strict=True))
    defs |= {name: {"anyOf": [_ref(kind.__name__) for kind in get_args(u)]} for name, u in UNIONS.items()}
    defs["Code"] = {"enum": list(CODES)}
    defs["ThreadMetaPart"] = _part_of(defs[ThreadMeta.__name__])
    defs["Op"] = _one_of(BY_NAME.values())
    defs["HostEvent"] = _one_of(EVENTS)
    defs["Payloads"] = _by_name(payloads.BY_TYPE)
    defs["Acks"] = _by_name(ACKS)
    defs["Results"] = _by_name(RESULTS)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sidekeep/1",
        "anyOf": [_ref("Op"), _ref("HostEvent")],
        "$defs": defs,
    }
    tidy: dict[str, Any] = _tidy(schema)
    return tidy


def schema_hash(schema: dict[str, Any]) -> str:
    """The digest of the schema's canonical JSON."""
    return digest_of(schema)


def descriptions() -> dict[str, str]:
    """The docstring of each struct, by its name: for the generated types, not for the digest."""
    found: dict[str, str] = {}
    waiting: list[Any] = _structs()
    for kind in waiting:
        if kind.__name__ in found:
            continue
        found[kind.__name__] = inspect.getdoc(kind) or ""
        for field in msgspec.structs.fields(kind):
            waiting.extend(_structs_in(field.type))
    return found


def _structs_in(kind: Any) -> list[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [found for inner in get_args(kind) for found in _structs_in(inner)]


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _part_of(whole: dict[str, Any]) -> dict[str, Any]:
    """Any of an object's members; null for an optional one that is gone."""
    members = {
        name: shape if name in whole["required"] else {"anyOf": [shape, {"type": "null"}]}
        for name, shape in whole["properties"].items()
    }
    return {"type": "object", "properties": members}


def _one_of(kinds: Any) -> dict[str, Any]:
    members = {kind.__struct_config__.tag: _ref(kind.__name__) for kind in kinds}
    mapping = {tag: ref["$ref"] for tag, ref in members.items()}
    return {"oneOf": list(members.values()), "discriminator": {"propertyName": "type", "mapping": mapping}}


def _by_name(kinds: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _ref(kind.__name__) for name, kind in kinds.items()},
        "required": list(kinds),
    }


def _tidy(value: Any) -> Any:
    """Without titles and docstrings (wording is no contract), and a reference stands alone."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        return {"$ref": value["$ref"]}
    return {
        key: _tidy(item)
        for key, item in value.items()
        if not (key in ("title", "description") and isinstance(item, str) and "$defs" not in value)
    }
