"""Decides under what a run is started: model, parameters, policy, prompt; and makes its snapshot.

The turn's own choice goes before the thread's preset, that before the settings, those before what is installed.
"""

from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from sidekeep.model.environment import binding_of, build
from sidekeep.model.errors import Conflict, NeedsPermission, NotFound
from sidekeep.model.limits import SKILL_BODIES_BYTES, SKILL_BODY_BYTES, SNAPSHOT_SKILLS
from sidekeep.providers.registry import default_model
from sidekeep.store import connections, inside, memories, projects, secrets, settings, skills
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx
from sidekeep.turns import prompts
from sidekeep.turns.tools import registry

_INPUT = ("content", "attachedContext", "attachmentIds")
#: Kinds of connection that are never offered tools, whatever is said of their models.
_WITHOUT_TOOLS = frozenset(("local", "extract"))
_ABSENT_CAPABILITIES = {"toolUse": True, "vision": False}


class Environment(NamedTuple):
    """The snapshot, and the normalised input that it was made for."""

    snapshot: dict[str, Any]
    turn_input: dict[str, Any]


def normal_input(text: str) -> dict[str, Any]:
    """A run's input with the members of a `UserInput` only, empty ones left out."""
    given = msgspec.json.decode(text)
    return {name: given[name] for name in _INPUT if given.get(name) or (name == "content" and name in given)}


def resolve(tx: Tx, thread: ThreadRow, run: RunRow) -> Environment:
    """The environment of a run that starts now. Raises a Refusal that says what to change."""
    turn_input = normal_input(run.input)
    overrides = msgspec.json.decode(run.overrides) if run.overrides else {}
    preset = _preset(tx, thread)
    model = overrides.get("model") or preset.get("model") or settings.get(tx, "models.default") or _installed()
    connection = usable_connection(tx, model["connectionId"])
    offered = _offered(connection, model["modelId"])
    capabilities = {**_ABSENT_CAPABILITIES, **(offered.get("capabilities") or {})}
    binding = binding_of(connection)
    bind_secrets(tx, connection)
    own = (settings.get(tx, "instructions.global") or "", preset.get("instructions") or "")
    uses_tools = bool(capabilities.get("toolUse")) and connection["kind"] not in _WITHOUT_TOOLS
    skill_catalog = _skills(tx) if uses_tools else []
    system = prompts.assemble(
        *own,
        small=connection["kind"] == "local",
        tools=uses_tools,
        remembered=memories.for_prompt(tx),
        skills=[(skill["name"], skill["description"]) for skill in skill_catalog],
    )
    snapshot = build(
        captured_at=tx.now,
        turn_input=turn_input,
        connection_id=connection["id"],
        model_id=model["modelId"],
        parameters={
            **(settings.get(tx, "models.params") or {}),
            **(preset.get("params") or {}),
            **(overrides.get("params") or {}),
        },
        capabilities=capabilities,
        pricing=offered.get("pricing"),
        binding=binding,
        permission_policy=overrides.get("permissionPolicy")
        or preset.get("permissionPolicy")
        or settings.get(tx, "policy.default"),
        scope={
            "levels": list(registry.LEVELS) if uses_tools else [],
            "origins": msgspec.json.decode(thread.scope_origins),
        },
        system_prompt=system,
        prompt_version=prompts.PROMPT_VERSION,
        skills=skill_catalog,
        tools=registry.offered(skills=bool(skill_catalog), folder=_has_folder(tx, thread)) if uses_tools else [],
        browser_context=msgspec.json.decode(run.browser_context) if run.browser_context else None,
    )
    return Environment(snapshot, turn_input)


def usable_connection(tx: Tx, connection_id: str) -> dict[str, Any]:
    """Raises NotFound when it was removed, Conflict when it is switched off."""
    connection = connections.get(tx, connection_id)
    if connection is None:
        raise NotFound(f"The connection {connection_id} was removed; choose another model and send again.")
    if not connection.get("enabled", True):
        raise Conflict(f"The connection {connection.get('name') or connection_id} is switched off in the settings.")
    return {**connection, "id": connection_id}


def bind_secrets(tx: Tx, connection: dict[str, Any]) -> None:
    """A secret goes only to the origin that it was first used with.

    Raises NotFound when it is not stored, NeedsPermission when it belongs to another origin.
    """
    origin = origin_of(connection.get("baseUrl") or "")
    if not origin:
        return
    for name in secret_names(connection):
        bound = secrets.bind_origin(tx, name, origin)
        if bound != origin:
            raise NeedsPermission(
                f"The secret {name} belongs to {bound} and is not sent to {origin}; enter it anew for this connection."
            )


def secret_names(connection: dict[str, Any]) -> list[str]:
    """The names of all secrets that a connection refers to."""
    headers = (connection.get("headers") or {}).values()
    return [*(connection.get("secretRefs") or ()), *(value["secret"] for value in headers if isinstance(value, dict))]


def origin_of(url: str) -> str:
    """Scheme, host and effective port of an address, parsed; empty for none."""
    parts = urlsplit(url)
    if not parts.hostname:
        return ""
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname.rstrip('.')}:{port}"


def _installed() -> dict[str, str]:
    chosen = default_model()
    return {"connectionId": chosen.connection_id, "modelId": chosen.model_id}


def _preset(tx: Tx, thread: ThreadRow) -> dict[str, Any]:
    """The thread's preset; one that was deleted changes nothing."""
    row = tx.one("SELECT body FROM presets WHERE id = ?", (thread.preset,)) if thread.preset else None
    found: dict[str, Any] = msgspec.json.decode(row[0]) if row is not None else {}
    return found


def _skills(tx: Tx) -> list[dict[str, Any]]:
    """The skills that are switched on, as many as a snapshot may hold."""
    found: list[dict[str, Any]] = []
    room = SKILL_BODIES_BYTES
    for skill in skills.listing(tx):
        size = len(skill.body.encode())
        if skill.enabled and size <= min(room, SKILL_BODY_BYTES) and len(found) < SNAPSHOT_SKILLS:
            room -= size
            found.append({"id": skill.id, "name": skill.name, "description": skill.description, "body": skill.body})
    return found


def _has_folder(tx: Tx, thread: ThreadRow) -> bool:
    return inside.is_possible() and projects.folder_of(tx, thread) is not None


def _offered(connection: dict[str, Any], model_id: str) -> dict[str, Any]:
    """What the connection says of a model; empty for one that it does not list."""
    for model in connection.get("models") or ():
        if model["id"] == model_id:
            return dict(model)
    return {}
