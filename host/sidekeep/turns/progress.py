"""Where a run is, read from the tree: its calls without a result, how often tools failed, what it knows of tabs.

Nothing of this is kept elsewhere, so that a run goes on after a death from what is on disk.
"""

from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from sidekeep.model.limits import TOOL_FAULTS_STOP, TURN_STEPS
from sidekeep.store import runs, settings
from sidekeep.store.damage import UNREADABLE_ERRORS
from sidekeep.store.pages import site_named, site_of
from sidekeep.store.path import PathNode, path_to
from sidekeep.store.runs import RunRow
from sidekeep.store.tx import Tx
from sidekeep.turns.tools.descriptor import Acting

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Call(NamedTuple):
    """A call that the model asked for."""

    item_id: str
    name: str
    arguments: str


class Progress(NamedTuple):
    """`pending`: calls without a result, in order. `faults`: how many results in a row, up to now, were failures.
    `tabs`, `here`: see Acting. `tainted`: the conversation holds what a page has said. `sites`: those that calls of
    this run acted on; `blocked`: those that are never captured."""

    pending: list[Call]
    faults: int
    tabs: dict[int, str]
    here: int | None
    tainted: bool
    sites: frozenset[str]
    blocked: frozenset[str]

    def acting(self, thread_id: str, run: RunRow, item_id: str) -> Acting:
        return Acting(thread_id, run.thread, run.k, item_id, self.tabs, self.here, self.blocked)


def of_run(tx: Tx, run_id: str) -> Progress:
    """The progress of a run as the store has it now."""
    run = runs.get(tx, run_id)
    path = path_to(tx, run.last_node) if run.last_node is not None else []
    blocked = frozenset(filter(None, map(site_named, settings.get(tx, "capture.blocked_sites"))))
    reader = _Reader(_beside(run), blocked)
    for node in path:
        reader.take(node, own=run.user_node is None or node.k >= run.user_node)
    return reader.progress()


def _beside(run: RunRow) -> dict[str, Any]:
    """The tab beside the panel when the turn was sent."""
    found: dict[str, Any] = _decode(run.browser_context) if run.browser_context else {}
    return found


def is_closing(tx: Tx, run_id: str) -> bool:
    """Whether the next answer may call no tools: too many failed in a row, or the turn has gone on for too long."""
    return runs.get(tx, run_id).step > TURN_STEPS or of_run(tx, run_id).faults >= TOOL_FAULTS_STOP


class _Reader:
    """One pass over the path; what a run did itself is `own`."""

    def __init__(self, beside: dict[str, Any], blocked: frozenset[str]) -> None:
        self._blocked = blocked
        self._here: int | None = beside.get("tabId")
        self._tabs: dict[int, str] = {}
        if self._here is not None:
            self._tabs[self._here] = str(beside.get("url", ""))
        self._calls: dict[str, Call] = {}
        self._faults = 0
        self._tainted = False
        self._sites: set[str] = set()

    def take(self, node: PathNode, *, own: bool) -> None:
        if node.deleted or node.type not in ("user_message", "tool_call", "tool_result"):
            return
        with suppress(*UNREADABLE_ERRORS, KeyError, TypeError, AttributeError):  # so it is with what a model is given
            self._read(node.type, _decode(node.payload), own)

    def _read(self, type: str, payload: dict[str, Any], own: bool) -> None:
        if type == "user_message":
            attached = payload.get("attachedContext") or ()
            self._tainted = self._tainted or any(context.get("trust") == "untrusted" for context in attached)
        elif type == "tool_call" and own:
            call = Call(payload["itemId"], payload["toolName"], payload["params"])
            self._calls[call.item_id] = call
        elif type == "tool_result":
            self._result(payload, own)

    def _result(self, payload: dict[str, Any], own: bool) -> None:
        details = payload.get("details") or {}
        tabs = details.get("tabs") or ()
        if payload.get("ok") and (details.get("url") or tabs):
            self._tainted = True
        if not own:
            return
        self._calls.pop(payload["itemId"], None)
        self._faults = 0 if payload.get("ok") else self._faults + 1
        self._tabs |= {tab["tabId"]: tab["url"] for tab in tabs}
        if payload.get("ok") and details.get("url"):
            self._sites.add(site_of(details["url"]))

    def progress(self) -> Progress:
        return Progress(
            list(self._calls.values()),
            self._faults,
            self._tabs,
            self._here,
            self._tainted,
            frozenset(self._sites),
            self._blocked,
        )
