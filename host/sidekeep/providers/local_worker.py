"""The local model's process: reads requests from its standard input, writes what it generates to its output.

It lives as long as its input is open: when the runner ends, in whatever way, the pipe closes and the worker
is gone at once, also in the middle of a token.
"""

import os
import queue
import sys
import threading
from pathlib import Path
from typing import BinaryIO

from sidekeep.providers import local_hints as hints
from sidekeep.providers.local_fit import Count, Fitted, fit
from sidekeep.providers.local_model import PROMPT_TOKENS, Cancelled, LocalModel, Sampling
from sidekeep.providers.local_protocol import (
    Cut,
    Done,
    Failed,
    Generate,
    Progressed,
    Report,
    Text,
    encode,
    read_request,
)

_SENTENCE_ENDS = tuple(".!?。！？…")  # noqa: RUF001
_CLOSERS = "\"'”’)»」』*_"  # noqa: RUF001


class Worker:
    """Answers one request after another on the main thread, while a second one listens."""

    def __init__(self, model: LocalModel, output: BinaryIO) -> None:
        self._model = model
        self._output = output
        self._waiting: queue.SimpleQueue[Generate] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._cancelled: set[int] = set()
        self._current = 0

    def listen(self, lines: BinaryIO) -> None:
        """Take requests until the input ends, and end the process then, whatever the model is doing."""
        for line in lines:
            request = read_request(line)
            if isinstance(request, Generate):
                self._waiting.put(request)
                continue
            with self._lock:
                self._cancelled.add(request.id)
                if request.id == self._current:
                    self._model.cancel()
        os._exit(0)

    def work(self) -> None:
        """Answer requests for ever; the listening thread ends the process."""
        while True:
            request = self._waiting.get()
            with self._lock:
                self._current = request.id
                self._model.rearm()
                if request.id in self._cancelled:
                    self._model.cancel()
            try:
                self._answer(request)
            except Exception as fault:  # the worker outlives what one request does to it
                self._say(Failed(request.id, "internal", f"{type(fault).__name__}: {fault}"[:300]))
            with self._lock:
                self._current = 0
                self._cancelled = {number for number in self._cancelled if number > request.id}

    def _answer(self, request: Generate) -> None:
        fitted, tokens = self._prompt(request)
        if fitted.note:
            self._say(Cut(request.id, fitted.note, fitted.kept, fitted.total))
        if len(tokens) > PROMPT_TOKENS:
            message = f"the message has {len(tokens):,} tokens, the local model reads {PROMPT_TOKENS:,}"
            self._say(Failed(request.id, "provider_context_too_long", message))
            return
        done = Done(request.id, "cancelled", "cancelled", len(tokens), 0, 0)
        try:
            done.cached_tokens = self._model.read(
                tokens, lambda at, of: self._say(Progressed(request.id, "reading", at, of))
            )
            self._write(request, done)
        except Cancelled:
            done.reason = done.native = "cancelled"
        self._say(done)

    def _prompt(self, request: Generate) -> tuple[Fitted, list[int]]:
        count = self._model.count
        with_text = any(part.fenced for said in request.messages for part in said.parts)
        hint = hints.LOCAL_HINT if with_text else hints.CHAT_HINT
        system = f"{_ending(request.system, hints.SYSTEM_TOKENS, count)}\n{hint}".strip()
        room = PROMPT_TOKENS - count(system) - 32
        fitted = fit(request.messages, room, count)
        return fitted, self._model.prompt(system, fitted.messages)

    def _write(self, request: Generate, done: Done) -> None:
        with_text = any(part.fenced for said in request.messages for part in said.parts)
        enough = hints.ANSWER_TOKENS_WITH_TEXT if with_text else hints.ANSWER_TOKENS
        limit = min(request.max_tokens or hints.MOST_TOKENS, hints.MOST_TOKENS)
        sampling = Sampling(request.temperature, request.top_p, request.seed)
        piece = self._model.pieces()
        held, tail = "", ""
        for token in self._model.write(sampling, limit):
            text = piece(token)
            done.output_tokens += 1
            if done.output_tokens > enough and _sentence_is_over(tail, text):
                done.reason, done.native = "end", "enough"
                return
            tail = (tail + text)[-80:]
            held += text
            said, held, stopped = _up_to_stop(held, request.stop)
            if said:
                self._say(Text(request.id, said))
            if stopped:
                done.reason, done.native = "end", "stop"
                return
        if held:
            self._say(Text(request.id, held))
        ended = done.output_tokens < limit and not self._model.ends(done.input_tokens + done.output_tokens)
        done.reason = done.native = "end" if ended else "max_tokens"

    def _say(self, report: Report) -> None:
        self._output.write(encode(report) + b"\n")
        self._output.flush()


def _sentence_is_over(said: str, following: str) -> bool:
    """Whether a sentence ended and the next text begins anew (`3.5` and `e.g` go on without white space)."""
    return following[:1].isspace() and said.rstrip(_CLOSERS).endswith(_SENTENCE_ENDS)


def _up_to_stop(held: str, stops: list[str]) -> tuple[str, str, bool]:
    """What may be said, what must wait because a stop text may have begun in it, and whether one is whole."""
    ends = [at for at in (held.find(stop) for stop in stops if stop) if at >= 0]
    if ends:
        return held[: min(ends)], "", True
    longest = max((len(stop) for stop in stops), default=1) - 1
    for size in range(min(longest, len(held)), 0, -1):
        if any(stop.startswith(held[-size:]) for stop in stops):
            return held[:-size], held[-size:], False
    return held, "", False


def _ending(text: str, tokens: int, count: Count) -> str:
    """The last lines of a text that fit."""
    kept: list[str] = []
    for line in reversed(text.splitlines()):
        kept.insert(0, line)
        if count("\n".join(kept)) > tokens:
            del kept[0]
            break
    return "\n".join(kept).strip()


def main(weights: str, threads: int) -> None:
    """Take the pipes for the protocol alone, load the weights, and work."""
    output = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    # Whatever a library prints or reads now touches neither pipe.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    output.write(encode(Progressed(0, "loading", 0, 1)) + b"\n")
    output.flush()
    try:
        model = LocalModel(Path(weights), threads)
    except Exception as fault:  # every reason not to load is told to the runner in words
        output.write(encode(Failed(0, "internal", f"{type(fault).__name__}: {fault}"[:300])) + b"\n")
        output.flush()
        sys.exit(1)
    output.write(encode(Progressed(0, "loading", 1, 1)) + b"\n")
    output.flush()
    worker = Worker(model, output)
    threading.Thread(target=worker.listen, args=(requests,), daemon=True).start()
    worker.work()
