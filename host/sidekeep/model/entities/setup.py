"""What a user has set up, as it is shown: no secret is ever among it."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from sidekeep.model.entities.base import Out
from sidekeep.model.ops.setup import ConnectionModel, SecretHeader
from sidekeep.model.payloads import ModelRef, PermissionPolicy


class Connection(Out, kw_only=True):
    """A connection to a model endpoint; `installed` is false where a built-in one lacks its parts."""

    id: str
    name: str
    kind: Literal["openai", "anthropic", "local", "extract"]
    base_url: str | UnsetType = UNSET
    secret_refs: list[str] | UnsetType = UNSET
    headers: dict[str, str | SecretHeader] | UnsetType = UNSET
    model_ids: list[str] | UnsetType = UNSET
    models: list[ConnectionModel] | UnsetType = UNSET
    prefix_id: str | UnsetType = UNSET
    enabled: bool
    quirks: dict[str, Any] | UnsetType = UNSET
    revision: int | UnsetType = UNSET
    installed: bool | UnsetType = UNSET


class ConnectionTemplate(Out, kw_only=True):
    """What is known of a usual endpoint; `custom` has no address."""

    id: str
    name: str
    kind: Literal["openai", "anthropic"]
    base_url: str | UnsetType = UNSET
    key: Literal["required", "optional", "none"]
    key_url: str | UnsetType = UNSET
    quirks: dict[str, Any] | UnsetType = UNSET


class SecretInfo(Out, kw_only=True):
    """A secret's name and age."""

    name: str
    created_at: int
    updated_at: int
    used_by: list[str]


class Rule(Out, kw_only=True):
    """A site rule."""

    id: str
    tool: str
    origin: str
    verdict: Literal["allow", "ask", "deny"]
    updated_at: int


class Preset(Out, kw_only=True):
    """A named way to begin a thread."""

    id: str
    name: str
    model: ModelRef | UnsetType = UNSET
    instructions: str | UnsetType = UNSET
    permission_policy: PermissionPolicy | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET
    updated_at: int


class Folder(Out, kw_only=True):
    """A folder of the thread list."""

    id: str
    name: str
    updated_at: int


class Memory(Out, kw_only=True):
    """Something that models are told in every thread."""

    id: str
    key: str
    value: str
    updated_at: int


class Skill(Out, kw_only=True):
    """A skill; `raw` only when it was asked for alone."""

    id: str
    name: str
    description: str
    enabled: bool
    source: str
    sites: list[str] | UnsetType = UNSET
    command: str | UnsetType = UNSET
    raw: str | UnsetType = UNSET
    updated_at: int


class VaultState(Out, kw_only=True):
    """Where the vault's key is and whether it is in reach."""

    locked: bool
    place: Literal["keyring", "file", "passphrase", "none"]
