"""The hosts that live beside this runner: whether somebody looks at a thread, and when the last of them is gone.

A host holds the lock `hosts/<instanceId>` and tells in `hosts/<instanceId>.json` what its clients look at.
"""

import os
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from sidekeep.model.places import Places
from sidekeep.store import locks

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Hosts:
    """Reads the small files; waits for a host's death in a thread, so that nobody polls."""

    def __init__(self, places: Places, died: Callable[[], None]) -> None:
        self._folder = places.hosts
        self._died = died
        self._waiting = threading.Lock()

    def living(self) -> list[str]:
        """Lock files of hosts that live; the files of dead ones are removed."""
        return [path for path in self._locks() if not locks.remove_if_dead(path, path + ".json", path + ".new")]

    def watched(self, thread_id: str) -> bool:
        """Does somebody look at this thread now: subscribed and visible in a client of a living host?"""
        for path in self._locks():
            for client in self._clients(path):
                looks_at = client.get("visible") is True and thread_id in (client.get("threads") or ())
                if looks_at and locks.is_held(path):
                    return True
        return False

    def await_death(self, path: str) -> None:
        """Call `died` from a thread once this host is gone; one thread at most waits."""
        if self._waiting.acquire(blocking=False):
            threading.Thread(target=self._wait, args=(path,), name="hosts", daemon=True).start()

    def _wait(self, path: str) -> None:
        try:
            fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            fd = -1
        try:
            if fd >= 0:
                locks.lock(fd, locks.SHARED, wait=True)
        finally:
            if fd >= 0:
                os.close(fd)
            self._waiting.release()
        self._died()

    def _locks(self) -> list[str]:
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        return [os.path.join(self._folder, name) for name in names if "." not in name]

    def _clients(self, path: str) -> list[dict[str, Any]]:
        try:
            with open(path + ".json", "rb") as file:
                clients = _decode(file.read()).get("clients")
        except (FileNotFoundError, msgspec.DecodeError):
            return []
        return [client for client in clients if isinstance(client, dict)] if isinstance(clients, list) else []
