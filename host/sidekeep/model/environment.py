"""The environment that a run was started under: built once, kept with the run, verified before it goes on.

Pure functions over plain JSON values. Every digest is the lower-case hex SHA-256 of the canonical JSON of its
subject without the subject's own `digest`. Source: first document §4; `RunEnvironmentSnapshot` v1 of the
protocol.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from sidekeep.model import limits
from sidekeep.model.canonical import canonical
from sidekeep.model.digests import digest_of
from sidekeep.model.errors import InvalidCommand, SnapshotInvalid, SnapshotUnsupported

VERSION = 1

#: What a connection of a kind speaks.
PROTOCOLS = {
    "openai": "openai-chat",
    "anthropic": "anthropic-messages",
    "local": "local-worker",
    "extract": "extract",
}


class Binding(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Where the model is reached, without any secret; `headers_digest` covers the connection's headers."""

    kind: str
    connection_id: str
    protocol: str
    base_url: str
    quirks: dict[str, Any]
    credentials: list[str]
    headers_digest: str | UnsetType = UNSET


class Scope(Struct, forbid_unknown_fields=True, kw_only=True):
    """Tool levels and origins that the turn may use."""

    levels: list[str]
    origins: list[str]


class Skill(Struct, forbid_unknown_fields=True, kw_only=True):
    """A skill as it read when the run began."""

    id: str
    name: str
    description: str
    body: str
    digest: str


class Snapshot(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """The shape of version 1; tools carry more than is named here and stay plain objects."""

    snapshot_version: int
    captured_at: int
    input_digest: str
    connection_id: str
    model_id: str
    model_parameters: dict[str, Any]
    model_capabilities: dict[str, Any]
    pricing: dict[str, Any] | UnsetType = UNSET
    provider_binding: Binding
    permission_policy: str
    capability_scope: Scope
    system_prompt: str
    system_prompt_digest: str
    skill_catalog: list[Skill]
    tool_catalog: list[dict[str, Any]]
    tool_catalog_digest: str
    prompt_version: str
    browser_context: dict[str, Any] | UnsetType = UNSET
    digest: str


def binding_of(connection: Mapping[str, Any]) -> dict[str, Any]:
    """The `providerBinding` of a connection (the protocol's object, its `id` set)."""
    kind = str(connection["kind"])
    binding: dict[str, Any] = {
        "kind": kind,
        "connectionId": connection["id"],
        "protocol": PROTOCOLS.get(kind, kind),
        "baseUrl": connection.get("baseUrl") or "",
        "quirks": dict(connection.get("quirks") or {}),
        "credentials": list(connection.get("secretRefs") or ()),
    }
    if connection.get("headers"):
        binding["headersDigest"] = digest_of(connection["headers"])
    return binding


def build(
    *,
    captured_at: int,
    turn_input: Mapping[str, Any],
    connection_id: str,
    model_id: str,
    parameters: Mapping[str, Any],
    capabilities: Mapping[str, Any],
    pricing: Mapping[str, Any] | None,
    binding: Mapping[str, Any],
    permission_policy: str,
    scope: Mapping[str, Any],
    system_prompt: str,
    prompt_version: str,
    skills: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    browser_context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A complete snapshot; skills and tools get their digests here. Raises SnapshotInvalid over a limit."""
    catalog = [{**skill, "digest": digest_of(skill)} for skill in skills]
    tool_catalog = [{**tool, "digest": digest_of(tool)} for tool in tools]
    snapshot: dict[str, Any] = {
        "snapshotVersion": VERSION,
        "capturedAt": captured_at,
        "inputDigest": digest_of(turn_input),
        "connectionId": connection_id,
        "modelId": model_id,
        "modelParameters": dict(parameters),
        "modelCapabilities": dict(capabilities),
        "providerBinding": dict(binding),
        "permissionPolicy": permission_policy,
        "capabilityScope": dict(scope),
        "systemPrompt": system_prompt,
        "systemPromptDigest": digest_of(system_prompt),
        "skillCatalog": catalog,
        "toolCatalog": tool_catalog,
        "toolCatalogDigest": digest_of(tool_catalog),
        "promptVersion": prompt_version,
    }
    if pricing:
        snapshot["pricing"] = dict(pricing)
    if browser_context:
        snapshot["browserContext"] = dict(browser_context)
    _refuse_depth(snapshot)
    snapshot["digest"] = digest_of(snapshot)
    _refuse_sizes(snapshot)
    return snapshot


def read(text: str | None) -> dict[str, Any]:
    """A stored snapshot as a plain object. Raises SnapshotInvalid when there is none that can be read."""
    if not text:
        raise SnapshotInvalid("This turn was started without a snapshot of its environment; send it anew.")
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        found = None
    if not isinstance(found, dict):
        raise SnapshotInvalid("The snapshot of this turn's environment cannot be read; send it anew.")
    return found


def verify(
    environment: Mapping[str, Any] | None,
    *,
    binding_now: Mapping[str, Any] | None,
    turn_input: Mapping[str, Any] | None = None,
    expected_digest: str | None = None,
    tools_now: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Whether a run may go on under its snapshot.

    `binding_now` is `binding_of` its connection as it is today, None when that is gone; `turn_input` and
    `expected_digest` are what the run's row holds; `tools_now` maps the names of today's tools to their
    catalog entries (without: not compared). A secret's value may have been rotated: only references count.
    Raises SnapshotUnsupported for another version, SnapshotInvalid for all else.
    """
    if not environment:
        raise SnapshotInvalid("This turn was started without a snapshot of its environment; send it anew.")
    version = environment.get("snapshotVersion")
    if version != VERSION:
        raise SnapshotUnsupported(
            f"The snapshot of this turn has version {version!r}; this program understands {VERSION}."
        )
    _refuse_depth(environment)
    _refuse_sizes(environment)
    try:
        msgspec.convert(environment, Snapshot)
    except msgspec.ValidationError as fault:
        raise SnapshotInvalid(f"The snapshot of this turn's environment is not of its shape: {fault}.") from None
    _check_digests(environment, turn_input, expected_digest)
    if binding_now is None:
        raise SnapshotInvalid("The connection of this turn was removed; send the message anew.")
    if digest_of(environment["providerBinding"]) != digest_of(binding_now):
        raise SnapshotInvalid("The connection of this turn was changed since; send the message anew.")
    for tool in environment["toolCatalog"] if tools_now is not None else ():
        now = tools_now.get(str(tool.get("name"))) if tools_now is not None else None
        if now is None or digest_of(now.get("execution")) != digest_of(tool.get("execution")):
            raise SnapshotInvalid(f"The tool {tool.get('name')!r} of this turn is not what it was.")


def _check_digests(environment: Mapping[str, Any], turn_input: Mapping[str, Any] | None, expected: str | None) -> None:
    pairs: list[tuple[str, object, object]] = [
        ("systemPrompt", environment["systemPromptDigest"], environment["systemPrompt"]),
        ("toolCatalog", environment["toolCatalogDigest"], environment["toolCatalog"]),
        ("snapshot", environment["digest"], _without_digest(environment)),
    ]
    if turn_input is not None:
        pairs.append(("input", environment["inputDigest"], turn_input))
    pairs += [("skillCatalog", skill["digest"], _without_digest(skill)) for skill in environment["skillCatalog"]]
    pairs += [("toolCatalog", tool.get("digest"), _without_digest(tool)) for tool in environment["toolCatalog"]]
    for name, said, subject in pairs:
        if said != digest_of(subject):
            raise SnapshotInvalid(f"The snapshot of this turn's environment was altered ({name}).")
    if expected is not None and expected != environment["digest"]:
        raise SnapshotInvalid("The snapshot of this turn's environment is not the one it was started with.")


def _without_digest(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name != "digest"}


def _refuse_depth(value: object) -> None:
    """Level by level, so that no nesting is too deep for the check itself."""
    level: list[Any] = [value]
    for _ in range(limits.SNAPSHOT_DEPTH):
        inner = (item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer))
        level = [item for item in inner if isinstance(item, dict | list)]
        if not level:
            return
    raise SnapshotInvalid(f"The environment of this turn nests deeper than {limits.SNAPSHOT_DEPTH}.")


def _refuse_sizes(snapshot: Mapping[str, Any]) -> None:
    """The limits of the protocol, each named. Members of a wrong shape are left to the shape's check."""
    skills = _objects(snapshot.get("skillCatalog"))
    tools = _objects(snapshot.get("toolCatalog"))
    bodies = [len(str(skill.get("body", "")).encode("utf-8", "replace")) for skill in skills]
    prompt = len(str(snapshot.get("systemPrompt", "")).encode("utf-8", "replace"))
    _limit("skills", len(skills), limits.SNAPSHOT_SKILLS)
    _limit("tools", len(tools), limits.SNAPSHOT_TOOLS)
    _limit("bytes of a skill", max(bodies, default=0), limits.SKILL_BODY_BYTES)
    _limit("bytes of skills", sum(bodies), limits.SKILL_BODIES_BYTES)
    _limit("bytes of system prompt", prompt, limits.SYSTEM_PROMPT_BYTES)
    try:
        schemas = [len(canonical(tool.get("parameters"))) for tool in tools]
        whole = len(canonical(dict(snapshot)))
    except InvalidCommand as fault:
        raise SnapshotInvalid(f"The environment of this turn: {fault.message}.") from None
    _limit("bytes of a tool's schema", max(schemas, default=0), limits.TOOL_SCHEMA_BYTES)
    _limit("bytes", whole, limits.SNAPSHOT_BYTES)


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _limit(what: str, found: int, most: int) -> None:
    if found > most:
        raise SnapshotInvalid(f"The environment of this turn has {found} {what}; at most {most} are allowed.")


def stored(snapshot: Mapping[str, Any]) -> str:
    """The text that the run's row keeps: canonical JSON."""
    return canonical(dict(snapshot)).decode()
