"""The job `connection.verify`: is the endpoint reached, does it take the key, does it stream, does it call tools.

Each step is kept as soon as it is known, so that a job that is taken up again asks nothing twice.
"""

import asyncio
import json
from contextlib import aclosing
from time import monotonic
from typing import Any

from sidekeep.jobs.endpoint import asked, begun, described, listed
from sidekeep.jobs.work import Work
from sidekeep.model.errors import (
    NeedsPermission,
    NotFound,
    ProviderAuth,
    ProviderNetwork,
    ProviderProtocol,
    SidekeepError,
    StoreError,
    VaultLocked,
)
from sidekeep.model.limits import VERIFY_MODELS_MS
from sidekeep.providers.base import (
    Finished,
    Message,
    ModelInfo,
    ModelRequest,
    Provider,
    ReasoningDelta,
    StreamEvent,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolSpec,
)
from sidekeep.store import settings
from sidekeep.store.tx import Tx

NAMES = ("reachable", "key", "streaming", "tools")
#: Without these three nothing is answered; a model that calls no tools still answers.
NEEDED = NAMES[:3]
#: A large local model reads and loads before its first word.
ANSWER_SECONDS = 120.0
_WORDS = 64
_KEY = (ProviderAuth, VaultLocked, NeedsPermission, NotFound)
_ECHO = ToolSpec(
    "echo",
    "Gives back the text that it is given.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


async def verify(work: Work) -> dict[str, Any]:
    """`{"ok", "steps": [{"name", "ok", "code"?, "message"?, "ms"}…]}`; `ok` says that this connection answers."""
    trial = _Trial(work)
    try:
        connection = await begun(work, total=len(NAMES))
        async with asked(work, connection) as provider:
            await trial.reach(provider)
            if trial.goes_on:
                model = await trial.choose(connection)
                await trial.stream(provider, model)
                if trial.goes_on:
                    await trial.call_a_tool(provider, model, connection)
    except StoreError:
        raise
    except SidekeepError as error:
        # Nothing was sent: a secret that is missing or bound elsewhere, an address that may not be used.
        await trial.found("key" if isinstance(error, _KEY) else "reachable", 0.0, error)
    return trial.report()


class _Trial:
    """What is known so far: the position of the job."""

    def __init__(self, work: Work) -> None:
        left = work.position or {}
        self._work = work
        self._steps: dict[str, dict[str, Any]] = left.get("steps", {})
        self._offered: list[str] = left.get("offered", [])

    @property
    def goes_on(self) -> bool:
        """Whether nothing that is needed has failed."""
        return all(step["ok"] for step in self._steps.values())

    async def found(self, name: str, began: float, error: SidekeepError | None = None, message: str = "") -> None:
        """Keep the outcome of one step, `began` as the clock of the loop counts (0: nothing was sent)."""
        step: dict[str, Any] = {"ok": error is None, "ms": round((monotonic() - began) * 1000) if began else 0}
        if error is not None:
            step["code"], message = error.code, error.message
        if message:
            step["message"] = message
        self._steps[name] = step
        position = {"steps": self._steps, "offered": self._offered}
        await self._work.step(position, done=len(self._steps), total=len(NAMES), note=name)

    async def reach(self, provider: Provider) -> None:
        """The list of models tells both whether somebody answers and whether the key is taken."""
        if "key" in self._steps or "streaming" in self._steps:
            return
        began = monotonic()
        try:
            offered: list[ModelInfo] = await listed(provider, VERIFY_MODELS_MS / 1000)
        except ProviderNetwork as error:
            await self.found("reachable", began, error)
        except _KEY as error:
            await self.found("reachable", began)
            await self.found("key", began, error)
        except StoreError:
            raise
        except SidekeepError:
            # It answers, but has no list; the key is tried by the next request.
            await self.found("reachable", began)
        else:
            self._offered = [model.id for model in offered[:1]]
            await self.found("reachable", began)
            await self.found("key", began)

    async def choose(self, connection: dict[str, Any]) -> str:
        """The model to ask: the wanted one, the default one, the first described, the first offered."""

        def default(tx: Tx) -> str:
            chosen = settings.get(tx, "models.default") or {}
            return str(chosen["modelId"]) if chosen.get("connectionId") == connection["id"] else ""

        said = [*described(connection), *self._offered, ""]
        return self._work.params.get("modelId") or await self._work.read(default) or said[0]

    async def stream(self, provider: Provider, model: str) -> None:
        """One short answer, from its first word to its end."""
        if "streaming" in self._steps:
            return
        began = monotonic()
        try:
            if not model:
                raise NotFound("No model of this connection is known; name one in its settings.")
            events = await _answer(provider, _request(model, "Say: ready."))
            if not any(isinstance(event, TextDelta | ReasoningDelta) for event in events):
                raise ProviderProtocol("The answer ended without a word.")
        except StoreError:
            raise
        except ProviderAuth as error:
            await self.found("key", began, error)
        except SidekeepError as error:
            await self.found("streaming", began, error)
        else:
            if "key" not in self._steps:
                await self.found("key", began)
            await self.found("streaming", began)

    async def call_a_tool(self, provider: Provider, model: str, connection: dict[str, Any]) -> None:
        """An echo tool: the model calls it, and goes on with what it gave."""
        capabilities = described(connection).get(model, {}).get("capabilities") or {}
        if "tools" in self._steps:
            return
        if capabilities.get("toolUse") is False:
            await self.found("tools", 0.0, message="Not tried: this model is described as one without tools.")
            return
        began = monotonic()
        request = _request(model, "Call the tool echo with the text ready, then say what it gave.")
        request.tools = [_ECHO]
        try:
            calls = [event for event in await _answer(provider, request) if isinstance(event, ToolCall)]
            if not calls:
                raise ProviderProtocol("The model answered without calling the tool; describe it as one without tools.")
            await _answer(provider, _with_results(request, calls))
        except StoreError:
            raise
        except SidekeepError as error:
            await self.found("tools", began, error)
        else:
            await self.found("tools", began)

    def report(self) -> dict[str, Any]:
        steps = [
            {"name": name, **self._steps.get(name, {"ok": False, "ms": 0, "message": "Not tried."})} for name in NAMES
        ]
        return {"ok": all(step["ok"] for step in steps if step["name"] in NEEDED), "steps": steps}


def _request(model: str, words: str) -> ModelRequest:
    return ModelRequest(
        model_id=model, messages=[Message("user", [TextBlock(words)])], params={"maxTokens": _WORDS, "temperature": 0}
    )


def _with_results(request: ModelRequest, calls: list[ToolCall]) -> ModelRequest:
    """The same conversation with the calls (their ids made unique) and what the tool gave."""
    named = [ToolCall(f"call_{n}", call.name, call.arguments) for n, call in enumerate(calls)]
    results = [Message("tool", [TextBlock(_echo(call))], tool_call_id=call.id) for call in named]
    return ModelRequest(
        model_id=request.model_id,
        messages=[*request.messages, Message("assistant", tool_calls=named), *results],
        tools=request.tools,
        params=request.params,
    )


def _echo(call: ToolCall) -> str:
    try:
        return str(json.loads(call.arguments)["text"])
    except (ValueError, TypeError, KeyError):
        return "The tool takes a text."


async def _answer(provider: Provider, request: ModelRequest) -> list[StreamEvent]:
    """All events of one answer. Raises ProviderError, also for a stream that stays silent or has no end."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS), aclosing(provider.stream(request)) as stream:
            events = [event async for event in stream]
    except TimeoutError:
        raise ProviderNetwork(f"The answer did not end within {ANSWER_SECONDS:g} s.") from None
    if not events or not isinstance(events[-1], Finished):
        raise ProviderProtocol("The answer broke off before its end.")
    return events
