"""What a command knows besides its op and its transaction, and how it reads optional members."""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from sidekeep.model.places import Places

T = TypeVar("T")


class Context:
    """Who asks, and what the process lends. `work` is set by commands that give the runner something to do,
    `after` to what has to be done once the command is on disk (again after a death, so that it may be lost).
    While `strict`, a query may raise BrokenPath for a conversation that the disk damaged.
    """

    __slots__ = ("after", "client_id", "places", "plain", "seal", "strict", "submission_id", "work")

    def __init__(
        self,
        client_id: str,
        submission_id: str,
        plain: dict[str, Any],
        places: Places,
        seal: Callable[[str, str], bytes],
    ) -> None:
        self.client_id = client_id
        self.submission_id = submission_id
        self.plain = plain
        self.places = places
        self.seal = seal
        self.strict = True
        self.work = False
        self.after: Callable[[], None] | None = None


def given(value: T | UnsetType, default: Any = None) -> Any:
    """An optional member's value, or the default where it was left out."""
    return default if value is UNSET else value
