"""A newer version takes over: a host leaves its version in a file, and an older runner goes.

Never the other way: a version that is not above ours is nobody to go for. Where hosts of two versions live, the
newer one is given the first try at starting the next runner.
"""

import os
from typing import Any

import msgspec

from sidekeep.model.places import Places, private_file
from sidekeep.store import locks

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def handover_file(places: Places) -> str:
    """`{"version"}` of the program that wants to take over."""
    return places.runner_lock + ".handover"


def order(version: str) -> tuple[int, ...]:
    """A version as numbers; what is not a number counts as 0."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def wanted_by_newer(places: Places, own: str) -> str | None:
    """The newer version that waits for our place, if one does."""
    version = _version_in(handover_file(places))
    return version if order(version) > order(own) else None


def ask(places: Places, own: str) -> bool:
    """Ask the living runner to go if it is older than `own`; whether it was asked now (then ring the bell)."""
    runner = _version_in(places.runner_lock + ".json")
    if not runner or order(runner) >= order(own) or order(_version_in(handover_file(places))) >= order(own):
        return False
    temporary = f"{handover_file(places)}.{os.getpid()}"
    fd = private_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(fd, msgspec.json.encode({"version": own}))
    finally:
        os.close(fd)
    os.replace(temporary, handover_file(places))
    return True


def newer_host_lives(places: Places, own: str) -> bool:
    """Is there a host that would start a newer runner than we would?"""
    for name in os.listdir(places.hosts):
        if name.endswith(".json"):
            path = os.path.join(places.hosts, name)
            if order(_version_in(path)) > order(own) and locks.is_held(path.removesuffix(".json")):
                return True
    return False


def arrived(places: Places, own: str) -> None:
    """A runner of this version begins: who waited for it, or for less, waits no more."""
    if wanted_by_newer(places, own) is None:
        forget(places)


def forget(places: Places) -> None:
    """Nobody waits any more."""
    try:
        os.unlink(handover_file(places))
    except FileNotFoundError:
        return


def _version_in(path: str) -> str:
    """What a process's own file says of its version; empty when there is none, or not yet."""
    try:
        with open(path, "rb") as file:
            return str(_decode(file.read()).get("version", ""))
    except (OSError, msgspec.DecodeError):
        return ""
