"""The live files of followed threads: what a running answer says, as events in order."""

from collections.abc import Iterator
from typing import Any

from sidekeep.model.places import Places
from sidekeep.store.live import LiveTail, live_path


class Turn:
    """The attempt that runs in one thread."""

    def __init__(self, places: Places, thread_id: str, turn_id: str, run_id: str, attempt: int) -> None:
        self.thread_id = thread_id
        self.turn_id = turn_id
        self.run_id = run_id
        self.attempt = attempt
        self.tail = LiveTail(live_path(places, run_id, attempt))

    def catch_up(self) -> None:
        """Read what is there without telling: it goes into a snapshot."""
        for _ in self.tail.read():
            pass

    def items(self) -> list[dict[str, Any]]:
        return [item.snapshot() for item in self.tail.items.values() if not item.done]

    def events(self) -> Iterator[dict[str, Any]]:
        """What is new, one event a line; deltas were merged by the runner.

        An end is not told of from here: its line and its commit are heard of in any order, and every port has to
        have the same stream. The commit names its items (`completions`).
        """
        for line in self.tail.read():
            event = self._event(line)
            if event is not None:
                yield event

    def _event(self, line: dict[str, Any]) -> dict[str, Any] | None:
        head: dict[str, Any] = {"threadId": self.thread_id, "turnId": self.turn_id, "itemId": line["itemId"]}
        if "start" in line:
            start = line["start"]
            return {"type": "item.start", **head, "kind": start["kind"], "meta": start.get("meta") or {}}
        delta = _members(line, "text", "reasoning", "toolProgress")
        return {"type": "item.delta", **head, "seq": line["n"], "delta": delta} if delta else None

    def completions(self, listed: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """`item.complete` for the items that a commit names."""
        for entry in listed:
            head = {"threadId": self.thread_id, "turnId": self.turn_id, "itemId": entry["itemId"]}
            yield {"type": "item.complete", **head, **_members(entry, "nodeId", "result")}

    def close(self) -> None:
        self.tail.close()


def _members(line: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: line[name] for name in names if name in line}
