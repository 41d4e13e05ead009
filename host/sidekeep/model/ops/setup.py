"""Ops on what a user sets up: secrets, connections, settings, rules, presets, folders, the vault."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.ops.base import Op
from sidekeep.model.payloads import Id, ModelRef, Name, PermissionPolicy, Strict


class SecretSet(Op, tag="secret.set", kw_only=True):
    """Seals a secret under a name."""

    name: Name
    value: Annotated[str, Meta(min_length=1)]


class SecretDelete(Op, tag="secret.delete", kw_only=True):
    """Forgets a secret."""

    name: Name


class SecretList(Op, tag="secret.list", kw_only=True):
    """Names and ages of secrets; never a value."""


class VaultStatus(Op, tag="vault.status", kw_only=True):
    """Where the vault's key is and whether it is in reach."""


class VaultUnlock(Op, tag="vault.unlock", kw_only=True):
    """Puts the key in reach of the runner."""

    passphrase: str | UnsetType = UNSET


class VaultLock(Op, tag="vault.lock", kw_only=True):
    """Takes the key out of reach."""


class VaultRekey(Op, tag="vault.rekey", kw_only=True):
    """Seals everything anew, with a passphrase or without."""

    passphrase: str | UnsetType = UNSET


class SecretHeader(Strict, kw_only=True):
    """A header whose value is a secret, by its name."""

    secret: Name


class Capabilities(Strict, kw_only=True):
    """What a model can do; absent: tools yes, images no."""

    tool_use: bool | UnsetType = UNSET
    vision: bool | UnsetType = UNSET
    reasoning: bool | UnsetType = UNSET
    max_context: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


Price = Annotated[float, Meta(ge=0)]


class Pricing(Strict, kw_only=True):
    """US dollars for a million tokens."""

    input: Price
    output: Price
    cache_read: Price | UnsetType = UNSET


class ConnectionModel(Strict, kw_only=True):
    """A model of a connection as the user describes it."""

    id: Name
    display_name: str | UnsetType = UNSET
    capabilities: Capabilities | UnsetType = UNSET
    pricing: Pricing | UnsetType = UNSET


class ConnectionInput(Strict, kw_only=True):
    """A connection to a model endpoint."""

    id: Name | UnsetType = UNSET
    name: Name
    kind: Literal["openai", "anthropic", "local", "extract"]
    base_url: str | UnsetType = UNSET
    secret_refs: list[Name] | UnsetType = UNSET
    headers: dict[str, str | SecretHeader] | UnsetType = UNSET
    model_ids: list[Name] | UnsetType = UNSET
    models: list[ConnectionModel] | UnsetType = UNSET
    prefix_id: Name | UnsetType = UNSET
    enabled: bool
    quirks: dict[str, Any] | UnsetType = UNSET


class ConnectionSave(Op, tag="connection.save", kw_only=True):
    """Makes or changes a connection."""

    connection: ConnectionInput


class ConnectionList(Op, tag="connection.list", kw_only=True):
    """All connections."""


class ConnectionDelete(Op, tag="connection.delete", kw_only=True):
    """Deletes a connection."""

    connection_id: Name


class ConnectionModels(Op, tag="connection.models", kw_only=True):
    """Asks the endpoint what it offers: a job."""

    connection_id: Name
    model_id: Name | UnsetType = UNSET


class ConnectionVerify(Op, tag="connection.verify", kw_only=True):
    """Tries the endpoint step by step: a job."""

    connection_id: Name
    model_id: Name | UnsetType = UNSET


class SettingsSet(Op, tag="settings.set", kw_only=True):
    """Changes settings by their dotted keys; null brings a default back."""

    patch: dict[str, Any]


class SettingsGet(Op, tag="settings.get", kw_only=True):
    """Settings, all or some."""

    keys: list[str] | UnsetType = UNSET


class RuleInput(Strict, kw_only=True):
    """A site rule; `*` stands for any tool or any origin."""

    id: Id | UnsetType = UNSET
    tool: Name
    origin: Annotated[str, Meta(min_length=1, max_length=2048)]
    verdict: Literal["allow", "ask", "deny"]


class RuleSave(Op, tag="rule.save", kw_only=True):
    """Makes or changes a rule."""

    rule: RuleInput


class RuleList(Op, tag="rule.list", kw_only=True):
    """All rules."""


class RuleDelete(Op, tag="rule.delete", kw_only=True):
    """Deletes a rule."""

    rule_id: Id


class PresetInput(Strict, kw_only=True):
    """A named way to begin a thread."""

    id: Name | UnsetType = UNSET
    name: Name
    model: ModelRef | UnsetType = UNSET
    instructions: str | UnsetType = UNSET
    permission_policy: PermissionPolicy | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET


class PresetSave(Op, tag="preset.save", kw_only=True):
    """Makes or changes a preset."""

    preset: PresetInput


class PresetList(Op, tag="preset.list", kw_only=True):
    """All presets."""


class PresetDelete(Op, tag="preset.delete", kw_only=True):
    """Deletes a preset."""

    preset_id: Name


class FolderInput(Strict, kw_only=True):
    """A folder of the thread list."""

    id: Name | UnsetType = UNSET
    name: Name


class FolderSave(Op, tag="folder.save", kw_only=True):
    """Makes or renames a folder."""

    folder: FolderInput


class FolderList(Op, tag="folder.list", kw_only=True):
    """All folders."""


class FolderDelete(Op, tag="folder.delete", kw_only=True):
    """Deletes a folder; its threads stay."""

    folder_id: Name
