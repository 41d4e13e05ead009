"""One attempt of a run, from its claim to its end: context, model calls, and the transactions that keep them."""

import asyncio
import random
from collections.abc import Callable
from contextlib import aclosing
from itertools import count
from typing import Any, Protocol

from sidekeep.model.errors import (
    Internal,
    ProviderContextTooLong,
    ProviderError,
    ProviderProtocol,
    Refusal,
    SidekeepError,
)
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.providers.base import ModelRequest, Provider, ToolSpec
from sidekeep.store import connections, runs, steers
from sidekeep.store.runs import RunRow
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tx import Tx, dumps
from sidekeep.turns import finish, steps
from sidekeep.turns.budget import is_spent, tokens_of
from sidekeep.turns.claim import ask
from sidekeep.turns.context import session_context
from sidekeep.turns.finish import Said
from sidekeep.turns.fit import budget_for, fit, size_of
from sidekeep.turns.held import Gone, Held, rows_of, took_hold
from sidekeep.turns.models import Endpoint, ModelPool
from sidekeep.turns.progress import Call, is_closing
from sidekeep.turns.retry import attempts_after, pause_after
from sidekeep.turns.stream import Answer, Live
from sidekeep.turns.tooling import Tooling

# A provider that does not let go of a cancelled call does not hold up the user's stop.
LET_GO_SECONDS = 0.02
_RETRY_SECONDS = (0.05, 0.5, 1.0, 2.0, 5.0)
#: Kinds that make the conversation fit their model themselves, with its own tokenizer.
FIT_THEMSELVES = frozenset(("local", "extract"))

#: How much of a request that was too long is asked next.
SHRINK = 0.7
#: How an answer left its turn: over, waiting for more budget, or with another call to make.
COMPLETED, PAUSED, GOES_ON = "completed", "paused", "goes on"

CLOSING = "\n\nTools are not available any more in this turn. Answer now with what you have, and say what failed."

Move = Callable[[Tx, ThreadRow, RunRow, str], None]
Prepared = tuple[ModelRequest, Endpoint, dict[str, Any]]


class Work(Protocol):
    """What a runner lends to its turns."""

    models: ModelPool
    log: Callable[[str], None]

    @property
    def places(self) -> Places: ...

    async def write(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any]) -> Any: ...

    async def read(self, look: Callable[[Tx], Any]) -> Any: ...

    async def fill_index(self) -> None: ...

    def rests(self) -> None: ...

    def watched(self, thread_id: str) -> bool: ...


class Turn:
    """Executes what was claimed. `interrupt`, `drop` and `hand_over` may be called at any time; the first counts."""

    def __init__(self, work: Work, mine: Held, live: Live) -> None:
        self._work = work
        self._mine = mine
        self._live = live
        self._leaf = mine.leaf
        # The claim made the move before the first call, unless tools have to be carried out before it.
        self._moved = mine.state == "streaming_model"
        # What the call at hand has said, and the tokens of all calls of this attempt.
        self._said = Said(model=mine.model_id, connection_id=mine.connection_id)
        self._tokens = 0
        # What the messages may take, and what was too much, since the endpoint said so.
        self._room: int | None = None
        self._refused_size: int | None = None
        self.asked: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.news = asyncio.Event()
        self._tooling = Tooling(self, mine, live)

    @property
    def held(self) -> Held:
        return self._mine

    @property
    def places(self) -> Places:
        return self._work.places

    def interrupt(self) -> None:
        """The user wants it stopped: what was said is kept."""
        self._ask("stop")

    def drop(self) -> None:
        """The conversation is gone or the run was moved by another: nothing more is written."""
        self._ask("drop")

    def hand_over(self) -> None:
        """This runner leaves: another goes on with the run."""
        self._ask("hand_over")

    def look(self) -> None:
        """Something in the store may have changed."""
        self.news.set()

    @property
    def resting(self) -> bool:
        """It waits for a person or a time: another runner can take it over at any moment."""
        return self._tooling.resting

    @property
    def due(self) -> int | None:
        """When a rest ends by itself."""
        return self._tooling.due

    def _ask(self, what: str) -> None:
        if not self.asked.done():
            self.asked.set_result(what)

    async def execute(self) -> bool:
        """To the end of the attempt; whether it ended with a whole answer that is on disk.

        Raises only when the store cannot be written any more.
        """
        try:
            try:
                return await self._execute()
            except Gone:
                raise
            except Exception as error:
                await self._failed(self._fault(error))
        except Gone as over:
            self._work.log(f"run {self._mine.run_id}.{self._mine.attempt} is dropped: {over.message}")
        return False

    async def _execute(self) -> bool:
        """Call after call, as long as something was added that no call has seen; tools before each, where one asked."""
        while True:
            asked = None if self._moved else await self._tooling.settle()
            if asked is None and self.asked.done():
                asked = self.asked.result()
            if asked is not None:
                await self._leave_off(asked)
                return False
            request, endpoint, meta = await self._prepare()
            self._said.cut = meta.get("cut")
            tools = bool(request.tools) and not request.closing
            pricing = self._mine.environment.get("pricing")
            answer = Answer(self._live, new_id(), self._said, pricing, meta, tools=tools)
            try:
                asked = await self._call(endpoint, request, answer)
            except ProviderContextTooLong:
                if answer.has_spoken or not self._shrinks(request):
                    raise
                continue
            finally:
                answer.close()
            if asked is not None:
                await self._leave_off(asked)
                return False
            assert answer.stop_reason is not None
            self._tokens += tokens_of(self._said.usage)
            outcome = await self._completed(answer)
            if outcome != GOES_ON:
                return outcome == COMPLETED

    # --- before the call ---

    async def _prepare(self) -> Prepared:
        """The transaction before the call (the claim may have been it), then the context."""
        if not self._moved:
            move = new_id()

            def streaming(tx: Tx) -> int | None:
                run, thread = rows_of(tx, self._mine)
                ask(tx, thread, run, move)
                return run.last_node

            def settled(tx: Tx) -> int | None:
                run = runs.get(tx, self._mine.run_id)
                return run.last_node if run.move == move else None

            self._leaf = await self.persist(streaming, settled)
        self._moved = False
        prepared: Prepared = await self._work.read(self._read)
        return prepared

    def _shrinks(self, request: ModelRequest) -> bool:
        """The endpoint says that it was too long: whether it can be asked again with less, which is then prepared.

        It knows better than an estimate, and the window of many models is not known here at all.
        """
        size = size_of(request.messages)
        if self._refused_size is not None and size >= self._refused_size:
            return False  # there is nothing left to leave out
        self._refused_size, self._room = size, int(size * SHRINK)
        self._moved = True
        return True

    def _read(self, tx: Tx) -> Prepared:
        environment = self._mine.environment
        capabilities = environment["modelCapabilities"]
        context = session_context(tx, self._leaf, vision=bool(capabilities.get("vision")))
        meta: dict[str, Any] = {"model": self._mine.model_id, "connectionId": self._mine.connection_id}
        window, room = capabilities.get("maxContext"), self._room
        if window and environment["providerBinding"]["kind"] not in FIT_THEMSELVES:
            most = environment["modelParameters"].get("maxTokens")
            told = environment["systemPrompt"] + dumps(environment["toolCatalog"])
            budget = budget_for(int(window), most, told)
            room = budget if room is None else min(room, budget)
        cut = fit(context, room).note() if room is not None else None
        if cut:
            meta["cut"] = cut
        connection = connections.get(tx, self._mine.connection_id) or {}
        endpoint = Endpoint(environment["providerBinding"], dict(connection.get("headers") or {}))
        catalog = environment["toolCatalog"]
        closing = bool(catalog) and is_closing(tx, self._mine.run_id)
        request = ModelRequest(
            model_id=self._mine.model_id,
            system=environment["systemPrompt"] + (CLOSING if closing else ""),
            tools=[ToolSpec(tool["name"], tool["description"], tool["parameters"]) for tool in catalog],
            closing=closing,
            messages=context.messages,
            params=dict(environment["modelParameters"]),
            prompt_cache=not environment["providerBinding"]["quirks"].get("noPromptCache"),
        )
        return request, endpoint, meta

    # --- the call ---

    async def _call(self, endpoint: Endpoint, request: ModelRequest, answer: Answer) -> str | None:
        """None after a whole answer, else what was asked of this turn. Raises what the provider raises."""
        if self.asked.done():
            return self.asked.result()
        key, provider = self._work.models.take(endpoint)
        call = asyncio.ensure_future(_patiently(provider, request, answer))
        either: list[asyncio.Future[Any]] = [call, self.asked]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                if call.cancelled():
                    raise Internal("The model call was cut off inside its provider.")
                call.result()
                return None
            answer.close()
            call.cancel()
            await asyncio.wait([call], timeout=LET_GO_SECONDS)
            return self.asked.result()
        finally:
            call.cancel()
            call.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._work.models.give_back(key)

    def _fault(self, error: Exception) -> SidekeepError:
        if isinstance(error, SidekeepError):
            return error
        import traceback

        self._work.log("".join(traceback.format_exception(error)))
        return Internal(f"An internal fault ({type(error).__name__}); the runner's log has more.")

    # --- the end ---

    async def _completed(self, answer: Answer) -> str:
        """Keep the answer; COMPLETED, PAUSED, or GOES_ON when it calls tools or the user added something meanwhile."""
        said, node_id, watched, token = self._said, self._node_id, self._work.watched(self._mine.thread_id), new_id()
        stop_reason, calls = str(answer.stop_reason), [Call(new_id(), c.name, c.arguments) for c in answer.calls]

        def decide(tx: Tx) -> str:
            run, thread = rows_of(tx, self._mine)
            if calls:
                steps.called(tx, thread, run, token, said, calls, node_id=node_id)
            elif not steers.any_waiting(tx, run):
                finish.complete(tx, thread, run, token, said, stop_reason, node_id=node_id, watched=watched)
                return COMPLETED
            else:
                finish.keep(tx, thread, run, token, said, stop_reason, node_id=node_id, state="streaming_model")
            if not is_spent(tx, self._tokens):
                return GOES_ON
            finish.pause(tx, thread, run, token, watched=watched)
            return PAUSED

        def settled(tx: Tx) -> str | None:
            run = runs.get(tx, self._mine.run_id)
            outcomes = {"completed": COMPLETED, "paused_budget": PAUSED}
            return outcomes.get(run.state, GOES_ON) if run.move == token else None

        outcome: str = await self.persist(decide, settled)
        self._show_end(node_id)
        self._said = Said(model=self._mine.model_id, connection_id=self._mine.connection_id)
        return outcome

    async def _failed(self, error: SidekeepError) -> None:
        said, node_id, watched = self._said, self._node_id, self._work.watched(self._mine.thread_id)
        said.provider_state = None  # only a whole answer's can be replayed

        def move(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> None:
            finish.fail(tx, thread, run, token, error, watched=watched, said=said, node_id=node_id)

        await self._move(move)
        self._show_end(node_id if said.anything else None)

    async def _leave_off(self, asked: str) -> None:
        if asked == "drop":
            return
        if asked == "hand_over":
            await self._move(finish.hand_over)
            return
        said, node_id = self._said, self._node_id

        def move(tx: Tx, thread: ThreadRow, run: RunRow, token: str) -> None:
            finish.stop(tx, thread, run, token, said, node_id=node_id)

        await self._move(move)
        self._show_end(node_id if said.anything else None)

    @property
    def _node_id(self) -> str:
        """A message's node has the id of its item, so that a reader of both can tell that they are one."""
        return self._said.items[-1] if self._said.items else new_id()

    def _show_end(self, node_id: str | None) -> None:
        """The end of the item that became a node; of those that became none the turn's last event tells."""
        if node_id is not None and self._said.items:
            self._live.end(self._said.items[-1], node_id)

    async def _move(self, move: Move) -> None:
        """One of the ends, under the fence that the claim saw. Raises Gone when the attempt is over."""
        token = new_id()

        def decide(tx: Tx) -> bool:
            run, thread = rows_of(tx, self._mine)
            move(tx, thread, run, token)
            return True

        await self.persist(decide, took_hold(self._mine.run_id, token))

    async def read(self, look: Callable[[Tx], Any]) -> Any:
        return await self._work.read(look)

    async def fill_index(self) -> None:
        """So that a search sees everything."""
        await self._work.fill_index()

    def rests(self) -> None:
        """From now on it waits for a person or a time."""
        self._work.rests()

    async def persist(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any]) -> Any:
        """Written in the end, also when the disk is full for a while: the text is nowhere else.

        Raises a Refusal, and what no waiting mends.
        """
        for pause in (*_RETRY_SECONDS, *([_RETRY_SECONDS[-1]] * 5000)):
            try:
                return await self._work.write(decide, settled)
            except SidekeepError as error:
                if isinstance(error, Refusal) or not error.retryable or isinstance(error, Internal):
                    raise
                self._work.log(f"run {self._mine.run_id} waits to be written: {error.message}")
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))
        raise Internal("The store could not be written for hours.")


async def _patiently(provider: Provider, request: ModelRequest, answer: Answer) -> None:
    """Ask, again after faults that pass. Raises what `_consume` raises."""
    for attempt in count(1):
        try:
            await _consume(provider, request, answer)
            return
        except ProviderError as error:
            pause = pause_after(error, attempt)
            if pause is None or answer.has_spoken:
                raise
            answer.waits(error, attempt, attempts_after(error), pause)
        await asyncio.sleep(pause)


async def _consume(provider: Provider, request: ModelRequest, answer: Answer) -> None:
    """Raises what the provider raises, and ProviderProtocol for a stream without an end."""
    async with aclosing(provider.stream(request)) as stream:
        async for event in stream:
            answer.take(event)
    if answer.stop_reason is None:
        raise ProviderProtocol("The model's answer ended without its end mark.")
