"""Ops that start, steer, answer and end runs."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from sidekeep.model.ops.base import Op
from sidekeep.model.payloads import ApprovalDecision, BrowserContext, Id, Strict, TurnOverrides, UserInput


class TurnSubmit(Op, tag="turn.submit", kw_only=True):
    """A user's turn; queued while another run of the thread is active."""

    thread_id: Id
    input: UserInput
    overrides: TurnOverrides | UnsetType = UNSET
    browser_context: BrowserContext | UnsetType = UNSET


class TurnFork(Op, tag="turn.fork", kw_only=True):
    """Edit and resend (with `input`, beside a user message) or regenerate (without)."""

    thread_id: Id
    sibling_of_node_id: Id
    input: UserInput | UnsetType = UNSET
    overrides: TurnOverrides | UnsetType = UNSET


class TurnSteer(Op, tag="turn.steer", kw_only=True):
    """More input for the turn that runs now."""

    thread_id: Id
    expected_turn_id: Id
    input: UserInput


class TurnEnqueue(Op, tag="turn.enqueue", kw_only=True):
    """A turn for after the one that runs."""

    thread_id: Id
    input: UserInput
    overrides: TurnOverrides | UnsetType = UNSET


class QueueUpdate(Op, tag="queue.update", kw_only=True):
    """Changes a turn that waits."""

    thread_id: Id
    run_id: Id
    input: UserInput | UnsetType = UNSET
    overrides: TurnOverrides | UnsetType = UNSET


class QueueRemove(Op, tag="queue.remove", kw_only=True):
    """Takes a turn that waits away."""

    thread_id: Id
    run_id: Id


class TurnInterrupt(Op, tag="turn.interrupt", kw_only=True):
    """Stops the run of the thread; what was streamed stays."""

    thread_id: Id


class RunGet(Op, tag="run.get", kw_only=True):
    """A run with its environment and partial text."""

    run_id: Id


class RunResume(Op, tag="run.resume", kw_only=True):
    """The model call of an interrupted run once more."""

    thread_id: Id
    run_id: Id


class RunResolveUncertain(Op, tag="run.resolveUncertain", kw_only=True):
    """What the user says of a write whose result is unknown."""

    thread_id: Id
    run_id: Id
    resolution: Literal["retry", "mark_done", "fail"]


class ApprovalResponse(Op, tag="approval.response", kw_only=True):
    """The user's decision; the first stands."""

    approval_id: Id
    decision: ApprovalDecision


class InteractionResponse(Op, tag="interaction.response", kw_only=True):
    """The user's answer, of the shape its request asks for."""

    interaction_id: Id
    response: dict[str, Any]


class BrowserError(Strict, kw_only=True):
    """Why the browser did not do it."""

    code: str
    message: str


class BrowserResponse(Op, tag="browser.response", kw_only=True):
    """What the browser did for a tool."""

    request_id: Id
    ok: bool
    result: Any = UNSET
    error: BrowserError | UnsetType = UNSET
