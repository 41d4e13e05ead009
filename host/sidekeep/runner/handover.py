"""A newer version takes over: it leaves its number in a file, and the older runner goes.

Never the other way: a number that is not above ours is nobody to go for.
"""

import os
from contextlib import suppress
from typing import Any

import msgspec

from sidekeep.model.places import Places

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def handover_file(places: Places) -> str:
    """`{"version"}` of the program that wants to take over."""
    return places.runner_lock + ".handover"


def order(version: str) -> tuple[int, ...]:
    """A version as numbers; what is not a number counts as 0."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def wanted_by_newer(places: Places, own: str) -> str | None:
    """The newer version that waits for our place, if one does."""
    try:
        with open(handover_file(places), "rb") as file:
            version = str(_decode(file.read()).get("version", ""))
    except (OSError, msgspec.DecodeError):
        return None
    return version if order(version) > order(own) else None


def arrived(places: Places, own: str) -> None:
    """The one that was waited for is here: the file has done its work."""
    if wanted_by_newer(places, own) is None:
        with suppress(FileNotFoundError):
            os.unlink(handover_file(places))
