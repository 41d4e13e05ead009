"""Says each second what keeps the store from being open, while ops wait for it."""

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from time import monotonic

from sidekeep.model.limits import BUSY_NOTICE_MS
from sidekeep.wire.answers import dump

_SECONDS = BUSY_NOTICE_MS / 1000


class BusyNotices:
    """`host.busy {what, pct}`: at once where the opener has something to say, and then each second until `end`."""

    def __init__(self, send: Callable[[list[bytes]], None]) -> None:
        self._send = send
        self._what = "opening the store"
        self._pct = 0
        self._told = monotonic() - _SECONDS
        self._saying = allocate_lock()
        self._open = allocate_lock()
        self._open.acquire()
        self._ended = False
        start_new_thread(self._each_second, ())

    def progress(self, what: str, pct: int | None) -> None:
        """What the opener does now, and how far it is (in per cent, where that can be known)."""
        self._what, self._pct = what, pct or 0
        self._say()

    def end(self) -> None:
        """Nothing more is said, also by a notice that was on its way."""
        with self._saying:
            self._ended = True
        self._open.release()

    def _each_second(self) -> None:
        while not self._open.acquire(timeout=_SECONDS):
            self._say()

    def _say(self) -> None:
        with self._saying:
            if self._ended or monotonic() - self._told < _SECONDS * 0.9:
                return
            self._told = monotonic()
            self._send([dump({"type": "host.busy", "what": self._what, "pct": self._pct}).encode()])
