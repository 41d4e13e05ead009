"""Holds back what a port's own commands change in a thread's row, so that a burst of commands is one event.

Who sent a command has its answer; the list of threads need not be told of each of a thousand of them. The order
of events stays as it was: whatever follows sends off first what is held.
"""

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any

PAUSE_SECONDS = 0.05

Event = dict[str, Any]


class Pacer:
    """One `thread.updated` at once, those that follow within the pause as one at its end."""

    def __init__(self) -> None:
        self._held: Event | None = None
        self._next = 0.0

    @property
    def due(self) -> float | None:
        """When what is held has to go (monotonic seconds)."""
        return None if self._held is None else self._next

    def paced(self, events: Iterable[Event], *, own: bool) -> Iterator[Event]:
        """The events to send now; `own` when they come from commands of this port."""
        now = monotonic()
        for event in events:
            held, self._held = self._held, None
            if event["type"] != "thread.updated":
                if held is not None:
                    yield held
                yield event
                continue
            if held is not None:
                if held["threadId"] == event["threadId"]:
                    event = {**event, "patch": {**held["patch"], **event["patch"]}}
                else:
                    yield held
            if own and now < self._next:
                self._held = event
            else:
                self._next = now + PAUSE_SECONDS
                yield event
        if now >= self._next:
            yield from self.release()

    def release(self) -> list[Event]:
        """What is held, to be sent now."""
        if self._held is None:
            return []
        held, self._held = self._held, None
        self._next = monotonic() + PAUSE_SECONDS
        return [held]
