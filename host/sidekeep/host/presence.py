"""Who this host is, for the other processes: a lock that dies with it and a small file beside."""

import os
from contextlib import suppress

import msgspec

from sidekeep.model.places import Places, private_file
from sidekeep.store import locks


class Presence:
    """`hosts/<instanceId>` (the lock) and `hosts/<instanceId>.json` (pid, version, origin, clients)."""

    def __init__(self, places: Places, instance_id: str, version: str, origin: str) -> None:
        self._path = os.path.join(places.hosts, instance_id)
        self._about = {"pid": os.getpid(), "version": version, "origin": origin}
        self._lock = locks.own_lock_file(self._path)
        self._written: object = None

    def tell(self, clients: list[dict[str, object]]) -> None:
        """Write which threads each client looks at; nothing is written when nothing changed.

        On a full disk the file stays as it was until the next change: only `watched` and `status` read it.
        """
        if clients == self._written:
            return
        try:
            self._put(msgspec.json.encode({**self._about, "clients": clients}))
        except OSError:
            return
        self._written = clients

    def _put(self, told: bytes) -> None:
        temporary = self._path + ".new"
        fd = private_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            os.write(fd, told)
        finally:
            os.close(fd)
        os.replace(temporary, self._path + ".json")

    def leave(self) -> None:
        """Remove both files; the lock goes with the process."""
        for path in (self._path + ".json", self._path):
            _remove(path)


def remove_the_dead(places: Places) -> None:
    """A file whose lock is free belongs to nobody any more; what is none of our files stays, and is in nobody's way."""
    for name in {name.partition(".")[0] for name in os.listdir(places.hosts)}:
        path = os.path.join(places.hosts, name)
        with suppress(OSError):
            locks.remove_if_dead(path, path + ".json", path + ".new")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
