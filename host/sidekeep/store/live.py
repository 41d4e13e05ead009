"""The live file of a running attempt: JSON lines that the runner appends and every host tails.

Lines: `{"n","itemId","start":{"kind","meta"}}`, `{"n","itemId","text"|"reasoning"|"toolProgress"}`, and after
the item's commit `{"n","itemId","end":true,"nodeId"?,"result"?}`. `n` counts from 1 in one file.
"""

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from sidekeep.model.places import Places

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_READ = 64 * 1024  # a larger buffer would be mapped and unmapped at each read


def live_path(places: Places, run_id: str, attempt: int) -> str:
    return os.path.join(places.live, f"{run_id}.{attempt}")


class LiveItem:
    """One item as it stands: the text so far and the last line that belongs to it."""

    __slots__ = ("done", "item_id", "kind", "meta", "node_id", "progress", "reasoning", "seq", "text")

    def __init__(self, item_id: str, kind: str, meta: dict[str, Any], seq: int) -> None:
        self.item_id = item_id
        self.kind = kind
        self.meta = meta
        self.seq = seq
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.progress: Any = None
        self.done = False
        self.node_id: str | None = None

    def snapshot(self) -> dict[str, Any]:
        """The item's entry in a ThreadSnapshot's activeTurn."""
        item: dict[str, Any] = {"itemId": self.item_id, "kind": self.kind, "seq": self.seq, "meta": self.meta}
        if self.text:
            item["text"] = "".join(self.text)
        if self.reasoning:
            item["reasoning"] = "".join(self.reasoning)
        if self.node_id:
            item["nodeId"] = self.node_id
        return item


class LiveTail:
    """Reads a live file as it grows; an incomplete last line waits for its newline."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.items: dict[str, LiveItem] = {}
        self._fd = -1
        self._rest = b""

    def read(self) -> Iterator[dict[str, Any]]:
        """The lines that are new, in order; the items follow. Nothing when there is no file (yet).

        A file that cannot be read shows nothing: what it holds comes with the commit.
        """
        while chunk := self._next():
            whole, newline, rest = (self._rest + chunk).rpartition(b"\n")
            self._rest = rest
            if newline:
                for raw in whole.split(b"\n"):
                    line = self._take(raw)
                    if line is not None:
                        yield line

    def _next(self) -> bytes:
        try:
            if self._fd < 0:
                self._fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            return os.read(self._fd, _READ)
        except OSError:
            return b""

    def _take(self, raw: bytes) -> dict[str, Any] | None:
        try:
            line = _decode(raw)
            item_id, number = line["itemId"], line["n"]
        except (msgspec.DecodeError, KeyError):
            return None  # torn by a crash: what follows it is whole again
        start = line.get("start")
        if start is not None:
            self.items[item_id] = LiveItem(item_id, start["kind"], start.get("meta") or {}, number)
            return line
        item = self.items.get(item_id)
        if item is None:
            return None
        item.seq = number
        if "text" in line:
            item.text.append(line["text"])
        elif "reasoning" in line:
            item.reasoning.append(line["reasoning"])
        elif "toolProgress" in line:
            item.progress = line["toolProgress"]
        elif "end" in line:
            item.done = True
            item.node_id = line.get("nodeId")
        return line

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def partial_text(path: str) -> dict[str, str]:
    """What a dead attempt had said in its last unfinished message: `{"text", "reasoning"}`, each if any."""
    tail = LiveTail(path)
    for _ in tail.read():
        pass
    tail.close()
    said: dict[str, str] = {}
    for item in tail.items.values():
        if not item.done and item.kind == "assistant_message":
            if item.text:
                said["text"] = "".join(item.text)
            if item.reasoning:
                said["reasoning"] = "".join(item.reasoning)
    return said
