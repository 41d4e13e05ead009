"""The host's one working thread: takes what was read, commits, answers, then tells what changed."""

from _queue import Empty, SimpleQueue
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.host import answers
from sidekeep.host.browser import BrowserDesk
from sidekeep.host.clients import Clients
from sidekeep.host.dispatch import Handler, handler
from sidekeep.host.election import Election
from sidekeep.host.events import Feed
from sidekeep.host.pacing import Pacer
from sidekeep.host.presence import Presence
from sidekeep.host.request import COMMAND, FAULT, QUERY, Request
from sidekeep.host.tidy import Tidy
from sidekeep.model.digests import quicken
from sidekeep.model.errors import InvalidCommand, NotFound, SidekeepError, StorageFull, StoreReplaced
from sidekeep.model.ids import new_id
from sidekeep.store.bell import Bell
from sidekeep.store.connection import typed
from sidekeep.store.damage import BrokenPath, mend
from sidekeep.store.doorway import GROUP_BYTES, GROUP_UNITS, Doorway, Unit
from sidekeep.store.reading import reading
from sidekeep.store.receipts import Identity
from sidekeep.store.tx import Tx

BELL, GONE, END = "bell", "gone", "end"
IDLE_SECONDS = 0.5
TIDY_SECONDS = 2.0
FAULT_SECONDS = 0.5  # until what failed is tried again, where nothing else comes
CHECKPOINT_AT_IDLE_PAGES = 1024
# Expected to take longer than 5 ms: they do not hold up the others of a group.
ALONE = frozenset(
    (
        "thread.fork",
        "thread.delete",
        "branch.delete",
        "thread.selectBranch",
        "node.delete",
        "vault.rekey",
        "vault.unlock",
    )
)
# They look at their thread's row through `Tx.thread` only, and write no statement over `threads`.
LIGHT = frozenset(("node.append",))

# What makes room: on a full disk the reserve is given up for them.
FREEING = frozenset(("thread.delete", "attachment.delete", "attachment.abort", "page.delete"))

Send = Callable[[list[bytes]], None]


class Engine:
    """Everything that happens in a host after the store is open."""

    def __init__(
        self,
        *,
        inbox: "SimpleQueue[Any]",
        doorway: Doorway,
        read: Callable[[], Tx],
        bell: Bell | None,
        election: Election,
        presence: Presence,
        clients: Clients,
        feed: Feed,
        send: Send,
        answered: Callable[[Request], None],
        places: Any,
        instance_id: str,
        seal: Callable[[str, str], bytes],
        log: Callable[[str], None],
    ) -> None:
        self._inbox = inbox
        self._doorway = doorway
        self._read = read
        self._bell = bell
        self._election = election
        self._presence = presence
        self._clients = clients
        self._feed = feed
        self._send = send
        self._answered = answered
        self._places = places
        self._seal = seal
        self._log = log
        self._tidy = Tidy(doorway, read, places, log)
        self._tidied = False
        self._indexing = False
        self._tidy_at = monotonic() + TIDY_SECONDS
        self._group: list[tuple[Request, Unit, Context]] = []
        self._group_bytes = 0
        self._out: list[bytes] = []
        self._committed = False
        self._pacer = Pacer()
        self._browser = BrowserDesk(doorway, read, clients, places, instance_id)
        self._work = True
        self._first = True  # no answer is out yet
        self._ask_again: float | None = None
        self._idle_due: float | None = monotonic() + IDLE_SECONDS
        self._fault = ""
        self._replaced: StoreReplaced | None = None

    def run(self) -> None:
        """Until the end of the input, or until another store lies in the place of this one, which is told."""
        self._look_for_work()
        while True:
            batch = self._take()
            for item in batch:
                if isinstance(item, Request):
                    self._one(item)
                elif item == END:
                    self._flush()
                    self._after_batch()
                    self._leave()
                    return
                elif item == GONE:
                    self._work = True
            self._flush()
            if self._replaced is not None:
                self._send([answers.refused(Request.fault(self._replaced), self._replaced)])
                self._leave()
                return
            self._after_batch()
            if self._first and batch:
                self._first = False
                quicken()

    def _leave(self) -> None:
        """The files that say we are here go; the bell tells a runner that nobody may be left to wait for."""
        self._tidy.write_notes()
        self._presence.leave()
        if self._bell is not None:
            self._bell.close()
            self._bell.ring()

    def _take(self) -> list[Any]:
        """At least one thing to do, or an empty list when a timer is due."""
        batch: list[Any] = []
        try:
            batch.append(self._inbox.get(timeout=self._patience()))
            while len(batch) < 4 * GROUP_UNITS:
                batch.append(self._inbox.get_nowait())
        except Empty:
            pass
        if batch:
            self._idle_due = monotonic() + IDLE_SECONDS
        return batch

    def _patience(self) -> float | None:
        if self._fault:
            return FAULT_SECONDS
        if self._tidy.due or self._indexing:
            return 0.0
        timers = (self._idle_due, self._ask_again, self._pacer.due, self._tidy.notes_due, self._browser.due)
        dues = [due for due in timers if due is not None]
        return max(0.0, min(dues) - monotonic()) if dues else None

    # ---- one op ----

    def _one(self, request: Request) -> None:
        try:
            if request.client_id:
                self._browser.meet(request.client_id)
            if request.kind == COMMAND:
                self._gather(request)
                return
            self._flush()
            if request.kind == FAULT or request.error is not None:
                self._out.append(answers.refused(request, request.error or InvalidCommand("There is no such op.")))
            elif request.kind == QUERY:
                self._out.append(self._query(request))
            else:
                self._port(request)
        except Exception as error:
            # Whatever it is, it concerns this op; the port and its other ops go on.
            self._out.append(answers.refused(request, self._known(error)))
        self._answered(request)

    def _known(self, error: Exception) -> SidekeepError:
        """The product's error for this one; a fault of our own is in the log with its place."""
        known = typed(error)
        if known is not error:
            import traceback  # slow to import, and a host that works never needs it

            self._log("".join(traceback.format_exception(error)))
        return known

    def _gather(self, request: Request) -> None:
        alone = request.name in ALONE
        if alone or self._group_bytes + request.size > GROUP_BYTES:
            self._flush()
        context = Context(request.client_id, request.submission_id or "", request.plain, self._places, self._seal)
        decide, op = _refusing(request.error) if request.error is not None else handler(request.name), request.op
        identity = Identity(request.client_id, context.submission_id, request.name, request.fingerprint)
        unit = Unit(lambda tx: decide(tx, op, context), identity, size=request.size, light=request.name in LIGHT)
        self._group.append((request, unit, context))
        self._group_bytes += request.size
        if alone or len(self._group) >= GROUP_UNITS:
            self._flush()

    def _flush(self) -> None:
        """Commit the group and write its answers; the answers go out before any event."""
        if self._group:
            group, self._group, self._group_bytes = self._group, [], 0
            units = [unit for _, unit, _ in group]
            notes = self._tidy.notes()
            self._doorway.run_group(units if notes is None else [*units, notes])
            if notes is not None:
                self._tidy.notes_written(notes)
            for request, unit, context in group:
                if isinstance(unit.error, StorageFull) and request.name in FREEING and self._let_go():
                    self._doorway.run_group([unit])
                if unit.response is not None:
                    self._out.append(answers.with_client(request, unit.response))
                else:
                    self._out.append(answers.refused(request, unit.error or NotFound("No outcome.")))
                    if isinstance(unit.error, StoreReplaced):
                        self._replaced = unit.error
                if unit.error is None and not unit.replayed:
                    self._committed = True
                    self._work = self._work or context.work
                    self._tidy.heard(request.name)
                    self._do_after(context)
                self._answered(request)
        if self._out:
            out, self._out = self._out, []
            self._send(out)

    def _let_go(self) -> bool:
        from sidekeep.store import reserve  # only on a full disk

        return reserve.let_go(self._places)

    def _do_after(self, context: Context) -> None:
        if context.after is not None:
            try:
                context.after()
            except SidekeepError as error:
                self._log(f"what follows a commit waits for the next chance: {error.message}")

    def _query(self, request: Request) -> bytes:
        context = Context(request.client_id, request.submission_id or "", request.plain, self._places, self._seal)
        try:
            if request.name == "thread.search":
                while self._tidy.index():
                    # A query sees everything that was acknowledged before it.
                    continue

            def ask(tx: Tx, *, strict: bool) -> Any:
                context.strict = strict
                return handler(request.name)(tx, request.op, context)

            answer = answers.result(request, self._shown(ask))
            if request.name == "attachment.read":
                self._tidy.noted()
            return answer
        except Exception as error:
            return answers.refused(request, self._known(error))

    def _shown(self, show: Callable[..., Any]) -> Any:
        """`show(tx, strict=…)` of one view; a conversation that the disk damaged is mended first, where it can be."""
        try:
            with reading(self._read()) as tx:
                return show(tx, strict=True)
        except BrokenPath as broken:
            self._mend(broken)
        with reading(self._read()) as tx:
            return show(tx, strict=False)

    def _mend(self, broken: BrokenPath) -> None:
        try:
            self._doorway.run(lambda tx: mend(tx, broken))
            self._committed = True
        except SidekeepError as error:
            self._log(f"thread {broken.thread_id} is damaged and was not mended: {error.message}")

    def _port(self, request: Request) -> None:
        """Ops that concern this port and not the store."""
        op = request.op
        try:
            if request.name == "ping":
                self._out.append(answers.pong(request))
            elif request.name == "thread.subscribe":
                self._out.append(answers.result(request, self.subscribe(request.client_id, op.thread_id)))
            elif request.name == "thread.unsubscribe":
                self._clients.unsubscribe(request.client_id, op.thread_id)
                self._feed.drop_unfollowed()
                self._out.append(answers.result(request, {}))
            elif request.name == "client.visibility":
                self._clients.set_visible(request.client_id, op.visible)
                self._out.append(answers.result(request, {}))
            elif request.name == "initialize":
                raise InvalidCommand("This port was initialised already.")
            else:
                raise InvalidCommand(f"{request.name} is not offered by this version.")
            self._presence.tell(self._clients.listing())
        except SidekeepError as error:
            self._out.append(answers.refused(request, error))

    def subscribe(self, client_id: str, thread_id: str) -> dict[str, Any]:
        """A snapshot, and from then on the events that are newer. Raises NotFound."""
        # What others have to hear first goes out first, so that nobody misses what the snapshot holds.
        self._tell()
        self._send_events(self._pacer.release())
        shown: dict[str, Any]
        shown, newest = self._shown(lambda tx, strict: self._with_newest(tx, thread_id, strict))
        self._clients.subscribe(client_id, thread_id, newest)
        self._presence.tell(self._clients.listing())
        return shown

    def _with_newest(self, tx: Tx, thread_id: str, strict: bool) -> tuple[dict[str, Any], int]:
        shown = self._feed.snapshot_of(tx, thread_id, strict=strict)
        (newest,) = tx.one("SELECT coalesce(max(seq), 0) FROM changes") or (0,)
        return shown, newest

    def meet(self, client_id: str) -> None:
        """The client that opened this port."""
        self._browser.meet(client_id)

    def greet(self, client_id: str, thread_id: str) -> None:
        """The snapshot that `initialize` asked for; a thread that is gone is an `error` event."""
        try:
            shown = self.subscribe(client_id, thread_id)
        except Exception as error:
            known = self._known(error)
            self._send([answers.refused(Request.fault(known), known)])
            return
        self._send_events([{"type": "thread.snapshot", "threadId": thread_id, **shown}])

    # ---- after a batch ----

    def _after_batch(self) -> None:
        """What follows a batch; where it fails, the ops that come are answered all the same, and it is tried again."""
        try:
            self._after()
            self._fault = ""
        except Exception as error:
            known = self._known(error)
            if known.message != self._fault:
                self._fault = known.message
                self._send([answers.refused(Request.fault(known), known)])

    def _after(self) -> None:
        if not self._tidied and monotonic() >= self._tidy_at:
            self._tidy_once()
        if self._tidy.due and self._inbox.empty() and self._tidy.step():
            self._committed = True
        if self._indexing and self._inbox.empty():
            self._indexing = self._tidy.index_while_idle()
        if self._tidy.notes_due is not None and monotonic() >= self._tidy.notes_due:
            self._tidy.write_notes()
        own, self._committed = self._committed, False
        if own and self._bell is not None:
            self._bell.ring()
        self._tell(own=own)
        if self._ask_again is not None and monotonic() >= self._ask_again:
            self._work = True
        if self._work or self._feed.work_changed:
            self._look_for_work()
        if self._idle_due is not None and monotonic() >= self._idle_due:
            self._idle_due = None
            self._when_idle()

    def _tell(self, *, own: bool = False) -> None:
        """Write every event that is due; `own` when this port's commands may be behind them."""
        with reading(self._read()) as tx:
            self._send_events(self._pacer.paced(self._feed.events(tx), own=own))
        self._send_events(self._feed.live_events())
        if self._feed.browser_wanted:
            self._feed.browser_wanted = False
            self._browser.heard()
        self._send_events(self._browser.events())

    def _send_events(self, events: Iterable[dict[str, Any]]) -> None:
        frames: list[bytes] = []
        try:
            for event in events:
                frames.append(msgspec.json.encode(event))  # noqa: PERF401 - what came before a fault is sent
        finally:
            if frames:
                self._send(frames)

    def _look_for_work(self) -> None:
        """Is there work for a runner? Then one has to live, and its death has to be heard."""
        self._feed.work_changed = self._work = False
        self._ask_again = None
        (waits,) = self._read().one(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE state NOT IN ('interrupted', 'failed', 'completed', "
            "'paused_budget', 'paused_uncertain')) OR EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued', 'running'))"
        ) or (0,)
        if not waits:
            return
        wait = self._election.ensure()
        if wait is None:
            self._election.watch()
        else:
            self._ask_again = monotonic() + wait

    def _tidy_once(self) -> None:
        """What an earlier process left half done: at the first rest, or soon where there is none."""
        if not self._tidied:
            self._tidied = self._tidy.due = True

    def _when_idle(self) -> None:
        self._tidy_once()
        self._indexing = True
        if not self._doorway.allocate_log() and self._doorway.pages_in_log >= CHECKPOINT_AT_IDLE_PAGES:
            self._doorway.checkpoint()
        from sidekeep.store import reserve  # not before the first rest

        reserve.keep(self._places)


def _refusing(error: SidekeepError) -> Handler:
    """Decides a command that was of the wrong shape: its refusal is its answer for good."""

    def refuse(_tx: Tx, _op: Any, _context: Context) -> dict[str, Any]:
        raise error

    return refuse


def fresh_tx(db: Any, clock: Callable[[], int]) -> Tx:
    """A view for reading; its `now` is this moment."""
    return Tx(db, clock(), new_id)
