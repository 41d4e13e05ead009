"""The local model in its own process: an answer, a long page, a stop, a crash; and extracts where it is not."""

import asyncio
import os
import signal
from contextlib import aclosing

import pytest

from providers.asking import ask, end, request, said
from sidekeep.model.errors import SidekeepError
from sidekeep.providers.base import ContextCut, ContextText, Message, ModelRequest, TextBlock, TextDelta
from sidekeep.providers.extract import ExtractProvider
from sidekeep.providers.local import LocalProvider

PAGE = " ".join(f"Tide pool number {n} lies between the rocks and holds {n} snails and a crab." for n in range(600))


def _about(page: str) -> ModelRequest:
    content = [ContextText(page, title="Pools"), TextBlock("Summarise this page")]
    return ModelRequest(model_id="smollm2-135m-instruct", messages=[Message("user", content)])


@pytest.mark.model
def test_the_weights_answer_and_the_same_question_has_the_same_answer() -> None:
    first, second = ask(LocalProvider(), request("Name a colour.")), ask(LocalProvider(), request("Name a colour."))
    assert said(first) == said(second)
    assert len(said(first)) > 3
    assert end(first).usage.output_tokens > 1


@pytest.mark.model
def test_of_a_long_page_only_so_much_is_read_and_that_is_said() -> None:
    events = ask(LocalProvider(), _about(PAGE))
    (cut,) = [event for event in events if isinstance(event, ContextCut)]
    assert cut.kept_tokens < 1100 < cut.total_tokens
    assert end(events).usage.input_tokens < 1200
    assert said(events)


@pytest.mark.model
def test_a_worker_that_dies_is_a_typed_error_and_the_next_question_is_answered() -> None:
    async def killed_at_its_first_word(provider: LocalProvider) -> None:
        async with aclosing(provider.stream(request("Tell me a long story."))) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    pid = provider.worker_pid
                    assert pid is not None
                    os.kill(pid, signal.SIGKILL)

    async def run() -> str:
        provider = LocalProvider()
        try:
            with pytest.raises(SidekeepError) as fault:
                await killed_at_its_first_word(provider)
            assert fault.value.code.startswith("provider_")
            async with aclosing(provider.stream(request("Name a colour."))) as stream:
                return said([event async for event in stream])
        finally:
            await provider.aclose()

    assert asyncio.run(run())


@pytest.mark.model
def test_whoever_stops_listening_frees_the_model() -> None:
    async def run() -> str:
        provider = LocalProvider()
        try:
            async with aclosing(provider.stream(request("Tell me a long story."))) as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        break
            async with asyncio.timeout(20), aclosing(provider.stream(request("Name a colour."))) as stream:
                return said([event async for event in stream])
        finally:
            await provider.aclose()

    assert asyncio.run(run())


def test_an_extract_is_made_of_the_page_s_own_sentences() -> None:
    events = ask(ExtractProvider(model_installed=False), _about(PAGE))
    text = said(events)
    assert "Tide pool number" in text
    assert end(events).stop_reason == "end"
    sentences = [line.strip(" >-*") for line in text.splitlines() if line.strip().startswith((">", "-", "*"))]
    assert all(sentence.strip(" …") in PAGE for sentence in sentences)
