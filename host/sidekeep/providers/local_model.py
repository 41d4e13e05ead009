"""The weights and their context: reads a prompt, writes tokens, and forgets nothing that it may use again."""

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cyllama.llama import llama_cpp as engine
from msgspec import Struct

from sidekeep.providers.local_protocol import Said

#: Room for prompt and answer together (70 MiB of memory); the prompt gets what PROMPT_TOKENS says.
CONTEXT_TOKENS = 3072
PROMPT_TOKENS = 2048
#: Tokens read between two looks at whether to stop, and the grain in which a read prompt is used again:
#: whole blocks only, so that an answer is the same whether its beginning was read now or before.
BLOCK = 128
#: More than 1 keeps so small a model from going in circles; 1.1 made it avoid the page's own words.
REPEAT_PENALTY = 1.05
_REPEAT_WINDOW = 128
_SLOT = "\ue000{}\ue001"


class Sampling(Struct):
    """How the next token is chosen; temperature 0 takes the likeliest one."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 1


class Cancelled(Exception):
    """The generation was told to stop."""


class LocalModel:
    """One model in memory, one conversation at a time. Not for use from two threads, except `cancel`."""

    def __init__(self, weights: Path, threads: int) -> None:
        # llama.cpp writes its own log to stderr, a line for each tensor.
        engine.disable_logging()
        self._model = engine.LlamaModel(path_model=str(weights), params=engine.LlamaModelParams(), verbose=False)
        self._vocab = self._model.get_vocab()
        params = engine.LlamaContextParams()
        params.n_ctx = CONTEXT_TOKENS
        params.n_batch = params.n_ubatch = BLOCK
        params.n_threads = params.n_threads_batch = threads
        # Measured without a graphics card: with it, reading is 10 % faster, writing slower by a quarter and more.
        params.flash_attn_type = 0
        self._context = engine.LlamaContext(self._model, params)
        self._context.install_cancel_callback()
        self._read: list[int] = []
        self._cancelled = False

    def count(self, text: str) -> int:
        """Tokens of a text that is not the template's."""
        return len(self._tokens(text, special=False))

    def prompt(self, system: str, messages: list[Said]) -> list[int]:
        """The conversation in the model's own template, as tokens.

        Texts are put in as tokens between the template's: whatever a page contains, it cannot end its
        message, because only the template's own marks are read as marks.
        """
        texts = [system, *("\n\n".join(p.before + p.text + p.after for p in said.parts) for said in messages)]
        roles = ["system", *(said.role for said in messages)]
        chat = [engine.LlamaChatMessage(role, _SLOT.format(i)) for i, role in enumerate(roles)]
        frame = self._model.chat_apply_template(self._model.get_default_chat_template(), chat, True)
        tokens: list[int] = []
        for index, text in enumerate(texts):
            before, _, frame = frame.partition(_SLOT.format(index))
            tokens += self._tokens(before, special=True) + self._tokens(text, special=False)
        return tokens + self._tokens(frame, special=True)

    def read(self, tokens: list[int], progress: Callable[[int, int], None]) -> int:
        """Read a prompt; returns how many of its tokens were still known. Raises Cancelled."""
        shared = 0
        for known, new in zip(self._read, tokens, strict=False):
            if known != new:
                break
            shared += 1
        # At least the last token is read, its result is where the answer starts.
        known_tokens = min(shared, len(tokens) - 1) // BLOCK * BLOCK
        self._context.memory_seq_rm(0, known_tokens, -1)
        self._read = tokens[:known_tokens]
        progress(known_tokens, len(tokens))
        for start in range(known_tokens, len(tokens), BLOCK):
            block = tokens[start : start + BLOCK]
            self._decode(block, start)
            self._read += block
            progress(start + len(block), len(tokens))
        return known_tokens

    def write(self, sampling: Sampling, limit: int) -> Iterator[int]:
        """Tokens of the answer to what was read, until the model ends it or `limit`. Raises Cancelled."""
        sampler = self._sampler(sampling)
        position = len(self._read)
        for _ in range(min(limit, CONTEXT_TOKENS - position)):
            token = int(sampler.sample(self._context, -1))
            if self._vocab.is_eog(token):
                return
            yield token
            self._decode([token], position)
            position += 1

    def ends(self, position_after: int) -> bool:
        """Whether the room is full after that many tokens of prompt and answer."""
        return position_after >= CONTEXT_TOKENS

    def pieces(self) -> Callable[[int], str]:
        """A decoder from token to text that holds half characters back; a fresh one for each answer."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def piece(token: int) -> str:
            if self._vocab.is_control(token):
                return ""
            return decoder.decode(bytes(_BYTE_OF[char] for char in self._vocab.get_text(token)))

        return piece

    def cancel(self) -> None:
        """Stop reading or writing at the next step. May be called from another thread."""
        self._cancelled = True
        self._context.cancel = True

    def rearm(self) -> None:
        """Forget an earlier `cancel`."""
        self._cancelled = False
        self._context.cancel = False

    def _decode(self, tokens: list[int], position: int) -> None:
        if self._cancelled:
            raise Cancelled
        try:
            self._context.decode(engine.llama_batch_get_one(tokens, position))
        except InterruptedError:
            raise Cancelled from None

    def _tokens(self, text: str, *, special: bool) -> list[int]:
        return list(self._vocab.tokenize(text, add_special=False, parse_special=special)) if text else []

    def _sampler(self, sampling: Sampling) -> Any:
        sampler = engine.LlamaSampler(engine.LlamaSamplerChainParams())
        sampler.add_penalties(_REPEAT_WINDOW, REPEAT_PENALTY, 0.0, 0.0)
        if sampling.temperature <= 0:
            sampler.add_greedy()
            return sampler
        sampler.add_top_p(sampling.top_p, 1)
        sampler.add_min_p(0.05, 1)
        sampler.add_temp(sampling.temperature)
        sampler.add_dist(sampling.seed)
        return sampler


def _byte_alphabet() -> dict[str, int]:
    """The byte behind each character of the vocabulary's text (byte-level BPE writes every byte as one).

    Printable bytes of Latin-1 stand for themselves, the others for the characters from U+0100 on.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


_BYTE_OF = _byte_alphabet()
