"""Ops about the port itself, receipts and jobs."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.ops.base import Op
from sidekeep.model.payloads import Id, Name, Strict


class Subscribe(Strict, kw_only=True):
    """The thread whose events a client wants from the start."""

    thread_id: Id


class Initialize(Op, tag="initialize", kw_only=True):
    """The first op of a port; answered before this module is loaded (wire/handshake.py)."""

    client_id: Name
    protocol: str
    schema_hash: Annotated[str, Meta(max_length=64)]
    subscribe: Subscribe | UnsetType = UNSET


class Ping(Op, tag="ping", kw_only=True):
    """Answered by `pong`, whatever the store does."""


class ThreadSubscribe(Op, tag="thread.subscribe", kw_only=True):
    """Its events from now on, and a snapshot as the answer."""

    thread_id: Id


class ThreadUnsubscribe(Op, tag="thread.unsubscribe", kw_only=True):
    """No more of its events."""

    thread_id: Id


class ClientVisibility(Op, tag="client.visibility", kw_only=True):
    """Whether somebody looks at this client."""

    visible: bool


class CommandIdentity(Strict, kw_only=True):
    """What names a command for good."""

    client_id: Name
    submission_id: Id


class ReceiptGet(Op, tag="receipt.get", kw_only=True):
    """What became of a command."""

    of: CommandIdentity


class JobCancel(Op, tag="job.cancel", kw_only=True):
    """Ends a job at its next step."""

    job_id: Id


class JobList(Op, tag="job.list", kw_only=True):
    """Jobs that wait, run, or ended lately."""
