"""Steps of the index are short: no command waits long behind one, whatever has been written."""

import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from sidekeep.model.places import Places
from sidekeep.store import search_index, threads, tree, words
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx

LONG_ONES = ("tides come and go " * 20_000, "潮汐每天两次。 " * 30_000)


def test_no_command_waits_long_behind_a_step(tmp_path: Path) -> None:
    """Many messages at once, or one of some hundred thousand characters: a piece of filling takes 20 ms at most."""
    texts = [f"message {number} über 潮汐 " * 20 for number in range(400)]
    timed = _Timed()
    with closing(open_store(Places(str(tmp_path / "state")).make())) as store:
        doorway = Doorway(store)
        doorway.run(partial(_say, texts=[*texts, *LONG_ONES]))
        indexed = 0
        while (preparing := timed(partial(doorway.run, search_index.prepare))) is not None:
            while (step := timed(preparing.go_on)) is None:
                continue
            write = partial(doorway.run, partial(search_index.write, step=step))
            # A row of the index cannot be written in pieces.
            assert write() if _is_long(step) else timed(write)
            indexed += len(step.documents)
    assert indexed == len(texts) + len(LONG_ONES) + 1  # and the title
    assert max(timed.seconds) <= 0.02


def test_a_text_in_slices_is_indexed_as_a_whole_one() -> None:
    """Wherever the slices end, the columns hold the same."""
    text = "getUserName C++ café 潮汐 #tag 漢字かな混じり文 ｶﾞ ﾊﾟ Straße 🌊 e\u0301 ไทย end\n" * 40
    whole = words.indexed(text)
    for size in (1, 7, 100, 1000):
        indexing = words.Indexing(text)
        while indexing.go_on(size):
            continue
        found = indexing.columns()
        assert found[0] == whole[0]
        assert set(found[1].split()) == set(whole[1].split())


class _Timed:
    """Runs pieces of work and keeps the processor time of each, so that a busy machine is not measured."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, work: Callable[[], Any]) -> Any:
        begun = time.process_time()
        value = work()
        self.seconds.append(time.process_time() - begun)
        return value


def _is_long(step: search_index.Step) -> bool:
    return any(len(text) + len(rest) > 200_000 for _kind, _key, text, rest in step.documents)


def _say(tx: Tx, texts: list[str]) -> None:
    thread = threads.create(tx, {})
    parent = None
    for text in texts:
        payload = {"content": [{"type": "text", "text": text}]}
        parent = tree.append(tx, thread, parent, "user_message", payload).k
