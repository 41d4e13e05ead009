"""Runs, what waits for the user, and jobs."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.entities.base import AnyJson, EnvironmentJson, Out, OverridesJson, UserInputJson
from sidekeep.model.payloads import BrowserContext, PermissionPolicy

RunState = Literal[
    "queued",
    "preparing",
    "streaming_model",
    "waiting_approval",
    "waiting_interaction",
    "executing_tool",
    "paused_budget",
    "paused_uncertain",
    "interrupted",
    "failed",
    "completed",
    "handed_over",
]
ItemKind = Literal["user_message", "assistant_message", "reasoning", "tool_call", "approval", "system_notice"]


class ActiveItem(Out, kw_only=True):
    """An item that is being made; `seq` is that of the last delta inside."""

    item_id: str
    kind: ItemKind
    text: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    seq: int


class ActiveTurn(Out, kw_only=True):
    """The turn that runs now."""

    run_id: str
    turn_id: str
    state: RunState
    items: list[ActiveItem]


class PendingApproval(Out, kw_only=True):
    """An approval that waits for the user."""

    approval_id: str
    run_id: str
    turn_id: str
    request: AnyJson
    deadline_at: int


class PendingInteraction(Out, kw_only=True):
    """A question to the user, or a condition that a run waits for."""

    interaction_id: str
    run_id: str
    turn_id: str
    request: AnyJson
    deadline_at: int | UnsetType = UNSET


class QueuedTurn(Out, kw_only=True):
    """A turn that waits for the one before it."""

    run_id: str
    input: UserInputJson
    overrides: OverridesJson | UnsetType = UNSET
    revision: int


class RecoverableRun(Out, kw_only=True):
    """A run that stopped and can go on when the user says so."""

    run_id: str
    turn_id: str
    state: RunState
    partial_text: str | UnsetType = UNSET
    reason: str
    tool: str | UnsetType = UNSET


Code = Annotated[str, Meta(extra_json_schema={"$ref": "#/$defs/Code"})]
"""A code of the contract (errors.py)."""


class Fault(Out, kw_only=True):
    """A code of the contract with one sentence."""

    code: Code
    message: str


class Run(Out, kw_only=True):
    """A run as `run.get` shows it."""

    run_id: str
    turn_id: str
    thread_id: str
    state: RunState
    turn_kind: str
    user_node_id: str | UnsetType = UNSET
    connection_id: str | UnsetType = UNSET
    model_id: str | UnsetType = UNSET
    attempt: int
    created_at: int
    updated_at: int
    stop_reason: str | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    environment: EnvironmentJson | UnsetType = UNSET
    partial_text: str | UnsetType = UNSET


class ProviderBindingRecord(Out, kw_only=True):
    """How the model is reached; `credentials` are names of secrets."""

    kind: str
    connection_id: str
    protocol: str
    base_url: str
    quirks: dict[str, Any]
    credentials: list[str]


class CapabilityScope(Out, kw_only=True):
    """What tools of the run may do, and where."""

    levels: list[str]
    origins: list[str]


class SkillRecord(Out, kw_only=True):
    """A skill as the run sees it."""

    id: str
    name: str
    description: str
    body: str
    digest: str


class ToolRecord(Out, kw_only=True):
    """A tool as the run sees it: schema, safety and how it is carried out."""

    name: str
    description: str
    parameters: dict[str, Any]
    level: str
    repeat: Literal["retry-safe", "inspect-first", "never-retry"]
    execution: dict[str, Any]
    digest: str


class RunEnvironmentSnapshot(Out, kw_only=True):
    """Under what a run was started, for good (first document, section 4)."""

    snapshot_version: Annotated[int, Meta(ge=1)]
    captured_at: int
    input_digest: str
    connection_id: str
    model_id: str
    model_parameters: dict[str, Any]
    model_capabilities: dict[str, Any]
    pricing: dict[str, float] | UnsetType = UNSET
    provider_binding: ProviderBindingRecord
    permission_policy: PermissionPolicy
    capability_scope: CapabilityScope
    system_prompt: str
    system_prompt_digest: str
    skill_catalog: list[SkillRecord]
    tool_catalog: list[ToolRecord]
    tool_catalog_digest: str
    prompt_version: str
    browser_context: BrowserContext | UnsetType = UNSET
    digest: str


class Job(Out, kw_only=True):
    """Long work that the runner does in steps."""

    job_id: str
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    done: int
    total: int
    note: str
    created_at: int
    updated_at: int
    data: AnyJson | UnsetType = UNSET
    code: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
