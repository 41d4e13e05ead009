"""Writes an attempt's live file: the first delta at once, then at most one line for each item and 16 ms.

Deltas are merged here and nowhere else. A file that cannot be written does not end a turn: what it lacks is kept and
written later, and the end of the turn writes the whole answer to the store.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from sidekeep.model.limits import DELTA_MERGE_MS, LIVE_FILE_KEPT_MS, LIVE_FLUSH_MS
from sidekeep.model.places import Places, private_file
from sidekeep.store.live import live_path

_encode = msgspec.json.Encoder().encode
_WINDOW = DELTA_MERGE_MS / 1000
_MERGED = ("text", "reasoning")
_TRY_AGAIN_SECONDS = 1.0

#: Told of the first write that the disk refused; a full disk is the user's to mend.
Refused = Callable[[OSError], None]


class LiveWriter:
    """One attempt's file; made when the first item starts. Used from the loop only."""

    def __init__(self, places: Places, run_id: str, attempt: int, ring: Callable[[], None], refused: Refused) -> None:
        self._path = live_path(places, run_id, attempt)
        self._ring = ring
        self._refused = refused
        self._loop = asyncio.get_running_loop()
        self._fd = -1
        self._number = 0
        self._unwritten = bytearray()
        self._heads: list[dict[str, Any]] = []
        self._waiting: list[tuple[str, str, Any]] = []
        self._window: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None
        self._sync: asyncio.TimerHandle | None = None
        self._syncing: asyncio.Future[None] | None = None

    def start(self, item_id: str, kind: str, meta: dict[str, Any]) -> None:
        """Written together with what comes next."""
        self._heads.append({"itemId": item_id, "start": {"kind": kind, "meta": meta}})

    def add(self, item_id: str, member: str, value: Any) -> None:
        """`member` is text, reasoning or toolProgress; texts that come within a window become one line."""
        if self._waiting and self._waiting[-1][:2] == (item_id, member):
            before = self._waiting.pop()[2]
            value = before + value if member in _MERGED else value
        self._waiting.append((item_id, member, value))
        if self._window is None:
            self.flush()
            self._window = self._loop.call_later(_WINDOW, self._window_over)

    def flush(self) -> None:
        """Write what waits now."""
        lines = [*self._heads, *({"itemId": item, member: value} for item, member, value in self._waiting)]
        if lines:
            self._heads, self._waiting = [], []
            self._put(lines)

    def end(self, item_id: str, node_id: str) -> None:
        """After the commit of the node that the item became."""
        self.flush()
        self._put([{"itemId": item_id, "end": True, "nodeId": node_id}])

    def _window_over(self) -> None:
        self._window = None
        if self._waiting:
            self.flush()
            self._window = self._loop.call_later(_WINDOW, self._window_over)

    def _put(self, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            self._number += 1
            self._unwritten += _encode({"n": self._number, **line}) + b"\n"
        if self._again is None:
            self._write()

    def _write(self) -> None:
        """All that is not in the file yet, in order: a line is written once, perhaps in two pieces."""
        refused_before, self._again = self._again is not None, None
        try:
            if self._fd < 0:
                self._fd = private_file(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            while self._unwritten:
                del self._unwritten[: os.write(self._fd, self._unwritten)]
        except OSError as error:
            self._again = self._loop.call_later(_TRY_AGAIN_SECONDS, self._write)
            if not refused_before:
                self._refused(error)
        self._ring()
        if self._sync is None:
            self._sync = self._loop.call_later(LIVE_FLUSH_MS / 1000, self._flush_to_disk)

    def _flush_to_disk(self) -> None:
        self._sync = None
        if self._fd >= 0 and (self._syncing is None or self._syncing.done()):
            self._syncing = self._loop.run_in_executor(None, _to_disk, self._fd)

    def finish(self) -> None:
        """After the run's last commit; the file stays a while for those who still read it."""
        for timer in (self._window, self._again, self._sync):
            if timer is not None:
                timer.cancel()
        self._loop.call_later(LIVE_FILE_KEPT_MS / 1000, remove, self._path)
        if self._syncing is not None and not self._syncing.done():
            self._syncing.add_done_callback(lambda _done: self._close())
        else:
            self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _to_disk(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError:
        return  # the store keeps the answer; this file only shows it


def remove(path: str) -> None:
    """A live file that nobody reads any more."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
