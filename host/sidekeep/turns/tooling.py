"""Carries out the calls that a model asked for: judged, asked about where need be, then all that may act at once.

Everything that counts is in the store before and after each step, so that the same code goes on after a death.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from sidekeep.model.clock import now_ms
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.store import approvals, browser_requests, interactions, projects, read_files, runs
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx
from sidekeep.turns import sensitive, steps
from sidekeep.turns.held import Held, rows_of
from sidekeep.turns.progress import Call, Progress, of_run
from sidekeep.turns.steps import Gate, Ready
from sidekeep.turns.stream import Live
from sidekeep.turns.tools import files
from sidekeep.turns.tools.descriptor import (
    BadArguments,
    BrowserTool,
    FileTool,
    InFolder,
    InteractionTool,
    Outcome,
    StoreTool,
)

_LONG = 16 * 1024


class Look(NamedTuple):
    """Whether a wait is over, and when to look again if nobody says anything (milliseconds; None: never)."""

    over: bool
    due: int | None = None


class Desk(Protocol):
    """What the tools of a turn need of it."""

    asked: asyncio.Future[str]
    #: Set whenever something in the store may have changed.
    news: asyncio.Event

    @property
    def places(self) -> Places: ...

    async def persist(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any]) -> Any: ...

    async def read(self, look: Callable[[Tx], Any]) -> Any: ...

    async def fill_index(self) -> None: ...

    def rests(self) -> None: ...


class Tooling:
    """The calls of one attempt. `resting` while it waits for a person or a time, `due` when that ends by itself."""

    def __init__(self, desk: Desk, mine: Held, live: Live) -> None:
        self._desk = desk
        self._mine = mine
        self._live = live
        self._shown: set[str] = set()
        self._swept = False
        self.resting = self._told = False
        self.due: int | None = None

    async def settle(self) -> str | None:
        """Until every call has its result: None; or what was asked of the turn meanwhile."""
        while True:
            if self._desk.asked.done():
                return self._desk.asked.result()
            pending: list[Call] = (await self._desk.read(lambda tx: of_run(tx, self._mine.run_id))).pending
            if not pending:
                return None
            self._show(pending)
            for call in pending:
                if len(call.arguments) > _LONG:
                    await asyncio.to_thread(sensitive.look_ahead, call.arguments)
            gate = await self._gate()
            if gate.waiting:
                asked = await self._rest(_approvals_over(self._mine.run_id))
            elif outside := [each for each in gate.ready if not isinstance(each.tool, InteractionTool)]:
                asked = await self._all(outside)
            elif gate.ready:
                asked = await self._interact(gate.ready)
            else:
                continue
            if asked is not None:
                return asked

    def _show(self, pending: list[Call]) -> None:
        for call in pending:
            if call.item_id not in self._shown:
                self._shown.add(call.item_id)
                self._live.start(call.item_id, "tool_call", {"toolName": call.name, "params": call.arguments})
        self._live.flush()

    def _ended(self, item_ids: list[str]) -> None:
        for item_id in item_ids:
            self._live.end(item_id, item_id)

    # --- moves ---

    async def _move(self, do: Callable[[Tx, ThreadRow, RunRow, str], Any], lost: Callable[[Tx], Any]) -> Any:
        """One transaction under the fence; `lost` gives its value again where the COMMIT is unknown but took hold."""
        token = new_id()

        def decide(tx: Tx) -> Any:
            run, thread = rows_of(tx, self._mine)
            return do(tx, thread, run, token)

        def settled(tx: Tx) -> Any:
            return lost(tx) if runs.get(tx, self._mine.run_id).move == token else None

        return await self._desk.persist(decide, settled)

    async def _gate(self) -> Gate:
        def do(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> Gate:
            if not self._swept:
                # An earlier attempt's: what it asked the browser is asked anew.
                browser_requests.end_of_run(tx, run)
            return steps.gate(tx, thread, run, token, self._mine)

        gate: Gate = await self._move(do, lambda _tx: Gate())
        self._swept = True
        self._ended(gate.done)
        return gate

    async def _interact(self, ready: list[Ready]) -> str | None:
        def do(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> Gate:
            return steps.interact(tx, thread, run, token, ready)

        found: Gate = await self._move(do, lambda _tx: Gate())
        self._ended(found.done)
        return await self._rest(_interactions_over(self._mine.run_id)) if found.waiting else None

    # --- acts ---

    async def _all(self, ready: list[Ready]) -> str | None:
        """All at once; None when each has ended, or what was asked of the turn: then they are left where they are."""
        acts = [asyncio.ensure_future(self._act(each)) for each in ready]
        try:
            waits: set[asyncio.Future[Any]] = {*acts, self._desk.asked}
            while not all(act.done() for act in acts):
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                if self._desk.asked.done():
                    return self._desk.asked.result()
                waits = {act for act in acts if not act.done()} | {self._desk.asked}
            for act in acts:
                act.result()
            return None
        finally:
            for act in acts:
                act.cancel()
            await asyncio.gather(*acts, return_exceptions=True)

    async def _act(self, ready: Ready) -> None:
        if isinstance(ready.tool, StoreTool):
            if ready.tool.name == "search_history":
                await self._desk.fill_index()
            await self._in_store(ready, ready.tool)
        elif isinstance(ready.tool, BrowserTool):
            await self._in_browser(ready, ready.tool)
        elif isinstance(ready.tool, FileTool):
            await self._in_folder(ready, ready.tool)

    async def _in_folder(self, ready: Ready, tool: FileTool) -> None:
        """Outside the store, in a thread; a call that a death cut off is made again, which its tool makes harmless."""
        item_id = ready.call.item_id

        def begin(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> InFolder | Outcome | None:
            if self._allowed(tx, run, ready) is None:
                return None
            steps.acting_now(tx, run, token, None)
            root = projects.folder_of(tx, thread)
            if root is None:
                return Outcome(False, "The folder of this conversation's project is gone.", {"code": "not_found"})
            known = read_files.known(tx, thread.k)
            return InFolder(self._desk.places, root, thread.id, str(thread.project_id), self._mine.turn_id, known)

        place = await self._move(begin, lambda _tx: None)
        if place is None:
            return  # judged anew
        outcome = place if isinstance(place, Outcome) else await asyncio.to_thread(files.act, tool, place, ready.args)

        def take(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> bool:
            steps.acted(tx, thread, run, token, item_id, outcome, of_run(tx, run.id).faults)
            return True

        await self._move(take, lambda _tx: True)
        self._ended([item_id])

    async def _in_store(self, ready: Ready, tool: StoreTool) -> None:
        """Act and result in one transaction: after any death both are there or neither."""

        def do(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> bool:
            progress = self._allowed(tx, run, ready)
            if progress is None:
                return False
            outcome = tool.act(tx, progress.acting(thread.id, run, ready.call.item_id), ready.args)
            steps.acted(tx, thread, run, token, ready.call.item_id, outcome, progress.faults)
            return True

        if await self._move(do, lambda _tx: True):
            self._ended([ready.call.item_id])

    async def _in_browser(self, ready: Ready, tool: BrowserTool) -> None:
        item_id = ready.call.item_id

        def ask(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> str | None:
            progress = self._allowed(tx, run, ready)
            if progress is None:
                return None
            params = tool.params(progress.acting(thread.id, run, item_id), ready.args)
            steps.acting_now(tx, run, token, item_id if tool.repeat == "never-retry" else None)
            return browser_requests.ask(tx, thread, run, tool.name, params)

        request_id: str | None = await self._move(ask, lambda _tx: "")
        if not request_id:
            return  # judged anew
        await self._wait(_answered(request_id))

        def take(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> bool:
            request = browser_requests.find(tx, request_id)
            answered = request is not None and request.response is not None
            response = (
                msgspec.json.decode(request.response or "") if request and answered else browser_requests.NOT_OPEN
            )
            browser_requests.end(tx, request_id)
            progress = of_run(tx, run.id)
            outcome = _outcome(tool, progress.acting(thread.id, run, item_id), ready.args, response)
            steps.acted(tx, thread, run, token, item_id, outcome, progress.faults)
            return True

        await self._move(take, lambda _tx: True)
        self._ended([item_id])

    def _allowed(self, tx: Tx, run: RunRow, ready: Ready) -> Progress | None:
        """The run's progress if the call may still act; None when it has to be judged anew, or has its result."""
        progress = of_run(tx, run.id)
        if ready.call not in progress.pending:
            return None
        standing = {str(each.asked.get("itemId")): each for each in approvals.of_run(tx, run)}
        verdict = steps.judged(tx, self._mine, run, progress, ready, standing.get(ready.call.item_id))
        return progress if verdict.kind == "allow" else None

    # --- waits ---

    async def _rest(self, look: Callable[[Tx], Look]) -> str | None:
        self.resting, self._told = True, False
        try:
            return await self._wait(look)
        finally:
            self.resting, self.due = False, None

    async def _wait(self, look: Callable[[Tx], Look]) -> str | None:
        """Until `look` says that it is over; or what was asked of the turn meanwhile."""
        while True:
            self._desk.news.clear()
            found: Look = await self._desk.read(look)
            if found.over:
                return None
            if self._desk.asked.done():
                return self._desk.asked.result()
            if self.resting:
                self.due = found.due
                if not self._told:
                    # Whoever runs this may leave now, or must not before the time that is due.
                    self._told = True
                    self._desk.rests()
            news: asyncio.Future[Any] = asyncio.ensure_future(self._desk.news.wait())
            seconds = None if found.due is None else max(0.0, (found.due - now_ms()) / 1000) + 0.001
            try:
                either: list[asyncio.Future[Any]] = [news, self._desk.asked]
                await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()


def _outcome(tool: BrowserTool, acting: Any, args: Any, response: dict[str, Any]) -> Outcome:
    if not response.get("ok"):
        error = response.get("error") or {}
        code, message = str(error.get("code", "internal")), str(error.get("message", "It failed."))
        return Outcome(False, message[:2_000], {"code": code})
    result = response.get("result")
    try:
        return tool.take(acting, args, result if isinstance(result, dict) else {})
    except BadArguments as fault:
        return Outcome(False, fault.message)


def _approvals_over(run_id: str) -> Callable[[Tx], Look]:
    def look(tx: Tx) -> Look:
        pending = [a.deadline_at for a in approvals.of_run(tx, runs.get(tx, run_id)) if a.status == "pending"]
        late = [deadline for deadline in pending if deadline <= tx.now]
        return Look(bool(late) or not pending, min(pending, default=None))

    return look


def _interactions_over(run_id: str) -> Callable[[Tx], Look]:
    def look(tx: Tx) -> Look:
        found = interactions.of_run(tx, runs.get(tx, run_id)).values()
        deadlines = [each.deadline_at for each in found if each.status == "pending" and each.deadline_at is not None]
        over = any(each.status in ("answered", "expired") for each in found) or any(d <= tx.now for d in deadlines)
        return Look(over, min(deadlines, default=None))

    return look


def _answered(request_id: str) -> Callable[[Tx], Look]:
    def look(tx: Tx) -> Look:
        request = browser_requests.find(tx, request_id)
        if request is None or request.status not in ("open", "claimed") or request.deadline_at <= tx.now:
            return Look(True)
        return Look(False, request.deadline_at)

    return look
