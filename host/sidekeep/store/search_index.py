"""Fills the index from `changes`, in steps: after commits, never in them.

A step reads, then prepares slice by slice without the write lock, then writes what it prepared, unless another process
was first.
Messages, notices, titles and pages are indexed once; a title that changed or a page stands anew.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from sidekeep.store import blobs, words
from sidekeep.store.doorway import Doorway
from sidekeep.store.reading import reading
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)

#: A step is short, so that a command that comes meanwhile does not wait for long: about 5 ms to prepare each slice of
#: its characters, as much to write it.
STEP_CHANGES = 64
STEP_NODES = 64
STEP_CHARACTERS = 24_000
SLICE_CHARACTERS = 5_000


class Step(NamedTuple):
    """What a step adds: (kind, key, words, rest) each; valid while the position is still `since`."""

    since: int
    until: int
    documents: list[tuple[str, int, str, str]]


def node_text(payload: str | bytes) -> str:
    """What a message or notice says: its text, then what was attached to it as text.

    A damaged one says what can be read of it, and hides no other from the search.
    """
    try:
        found = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    texts = [block.get("text") for block in _blocks(found, "content") if block.get("type") == "text"]
    texts.append(found.get("text"))
    for block in _blocks(found, "attachedContext"):
        texts += (block.get(name) for name in ("title", "text") if block.get(name))
    return "\n".join(text for text in texts if isinstance(text, str))


def _blocks(payload: dict[str, Any], member: str) -> list[dict[str, Any]]:
    blocks = payload.get(member)
    return [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []


def page_text(tx: Tx, key: int, title: str, url: str, text: str | None, selection: str | None) -> str:
    """What a kept page says; where it holds no text of its own, its part of kind `page_text` does."""
    if text is None:
        part = tx.one(sql.page_text, (key,))
        if part is not None:
            # Four bytes a character at most; what is beyond the bound is not indexed.
            text = blobs.read(tx, part[0], 0, 4 * words.TEXT_CHARACTERS).decode("utf-8", "replace")
    return "\n".join(piece for piece in (title, text, selection, url) if piece)


def prepare(tx: Tx) -> "Preparing | None":
    """The beginning of the next step, or None when all is indexed."""
    since, newest = tx.one(sql.position) or (0, 0)
    if newest <= since:
        return None
    gathered = _Gathered(tx)
    until = since
    for seq, kind, thread, change_id, detail in tx.all(sql.changes, (since, STEP_CHANGES)):
        if gathered.full or not gathered.take(kind, thread, change_id, detail):
            break
        until = seq
    return Preparing(since, until, gathered.texts)


class Preparing:
    """A step whose texts become words, a slice at a time; no view of the store is needed for it."""

    def __init__(self, since: int, until: int, texts: list[tuple[str, int, str]]) -> None:
        self._since = since
        self._until = until
        self._texts = texts[::-1]
        self._indexing: words.Indexing | None = None
        self._documents: list[tuple[str, int, str, str]] = []

    def go_on(self, characters: int = SLICE_CHARACTERS) -> Step | None:
        """Works on about so many characters more; the step, once it is whole."""
        while self._texts:
            kind, key, text = self._texts[-1]
            if self._indexing is None:
                self._indexing = words.Indexing(text)
            done = self._indexing.go_on(characters)
            if done:
                characters -= done
                if characters <= 0:
                    return None
                continue
            self._documents.append((kind, key, *self._indexing.columns()))
            self._indexing = None
            self._texts.pop()
        return Step(self._since, self._until, self._documents)


class _Gathered:
    """What a batch of changes brings into the index."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.texts: list[tuple[str, int, str]] = []
        self._characters = 0
        self._seen: set[tuple[str, int]] = set()

    @property
    def full(self) -> bool:
        return self._characters >= STEP_CHARACTERS

    def take(self, kind: str, thread: str | None, change_id: str | None, detail: str | None) -> bool:
        """Whether the change is dealt with; False: it goes on in the next step."""
        if kind == "thread.node" and change_id is not None:
            self._node(change_id)
        elif kind == "thread.updated" and detail is not None and '"title"' in detail:
            self._title(thread)
        elif kind == "thread.created" or (kind == "search.anew" and thread is not None):
            if not self._thread(thread):
                return False
            self._title(thread)
        elif change_id is not None and (kind == "search.anew" or (kind == "store.changed" and _of_pages(detail))):
            self._page(change_id)
        return True

    def _add(self, kind: str, key: int, text: str) -> None:
        if (kind, key) not in self._seen:
            self._seen.add((kind, key))
            self._characters += len(text)
            self.texts.append((kind, key, text))

    def _node(self, node_id: str) -> None:
        row = self._tx.one(sql.node, (node_id,))
        if row is not None:
            self._add("node", row[0], node_text(row[2]))

    def _title(self, thread: str | None) -> None:
        row = self._tx.one(sql.title, (thread,))
        if row is not None:
            self._add("title", row[0], row[1])

    def _thread(self, thread: str | None) -> bool:
        rows = self._tx.all(sql.nodes_of_thread, (thread, STEP_NODES))
        for key, _type, payload in rows:
            if self.full:
                return False
            self._add("node", key, node_text(payload))
        return len(rows) < STEP_NODES

    def _page(self, page_id: str) -> None:
        row = self._tx.one(sql.page, (page_id,))
        if row is not None:
            self._add("page", row[0], page_text(self._tx, *row))


def _of_pages(detail: str | None) -> bool:
    return detail is not None and json.loads(detail).get("kind") == "pages"


def catch_up(doorway: Doorway, read: Callable[[], Tx]) -> int:
    """Index everything that is committed; returns how many documents. `read` gives a fresh view."""
    total = 0
    while True:
        with reading(read()) as tx:
            preparing = prepare(tx)
        if preparing is None:
            return total
        step = None
        while step is None:
            step = preparing.go_on()
        doorway.run(partial(write, step=step))
        total += len(step.documents)


def write(tx: Tx, step: Step) -> bool:
    """Write a step; False when another process was first."""
    tx.run(sql.advance, (step.since, step.until))
    if not tx.changed_rows():
        return False
    for kind, key, text, rest in step.documents:
        if kind != "node":
            forget(tx, kind, key)
        tx.run(sql.add_row, (kind, key))
        if tx.changed_rows() and (text or rest):
            tx.run(sql.add, (tx.insert_key(), text, rest))
    return True


def forget(tx: Tx, kind: str, key: int) -> None:
    """Take a node, page or title out of the index."""
    row = tx.one(sql.row, (kind, key))
    if row is not None:
        tx.run(sql.drop, row)
        tx.run(sql.drop_row, row)


def begin_anew(tx: Tx) -> None:
    """Empty the index; the steps that follow fill it with everything again."""
    tx.run(sql.drop_all)
    tx.run("DELETE FROM search_rows")
    _since, newest = tx.one(sql.position) or (0, 0)
    tx.run("UPDATE meta SET value = ? WHERE key = 'indexedChange'", (newest,))
    tx.run(sql.all_threads_anew, (tx.now,))
    tx.run(sql.all_pages_anew, (tx.now,))
