"""Many commands on one thread are one `thread.updated`, and no event overtakes another."""

from pathlib import Path

from support.hostclient import HostClient


def test_a_burst_of_own_commands_is_few_events_that_end_where_the_thread_is(tmp_path: Path) -> None:
    with HostClient(tmp_path) as host:
        host.initialize()
        host.ready()
        thread = host.ack("thread.create")["threadId"]
        sent = [host.send("thread.update", threadId=thread, patch={"title": f"Plan {n}"}) for n in range(30)]
        for submission in sent:
            assert host.answer(submission)["type"] == "command.ack"
        host.event("thread.updated", where=lambda event: event["patch"].get("title") == "Plan 29")
        events = host.seen("thread.updated", threadId=thread)
        assert len(events) < 15
        revisions = [event["revision"] for event in events]
        assert revisions == sorted(set(revisions))
        assert revisions[-1] == host.query("thread.list")["threads"][0]["revision"]


def test_what_differs_between_held_changes_is_in_the_one_that_comes(tmp_path: Path) -> None:
    with HostClient(tmp_path) as host:
        host.initialize()
        host.ready()
        thread = host.ack("thread.create")["threadId"]
        host.send("thread.update", threadId=thread, patch={"title": "First"})
        host.send("thread.update", threadId=thread, patch={"pinned": True})
        host.send("thread.update", threadId=thread, patch={"tags": ["blue"]})
        patch: dict[str, object] = {}

        def all_told(events: list[dict[str, object]]) -> bool:
            for event in events:
                if event["type"] == "thread.updated":
                    patch.update(event["patch"])  # type: ignore[call-overload]
            return {"title", "pinned", "tags"} <= set(patch)

        host.until(all_told, "all three changes")
        assert (patch["title"], patch["pinned"], patch["tags"]) == ("First", True, ["blue"])


def test_a_snapshot_is_never_followed_by_an_older_change(tmp_path: Path) -> None:
    with HostClient(tmp_path) as host:
        host.initialize()
        host.ready()
        thread = host.ack("thread.create")["threadId"]
        for number in range(5):
            host.send("thread.update", threadId=thread, patch={"title": f"Plan {number}"})
        shown = host.query("thread.subscribe", threadId=thread)
        before = len(host.seen("thread.updated", threadId=thread))
        assert shown["thread"]["title"] == "Plan 4"
        host.ack("thread.update", threadId=thread, patch={"title": "Last"})
        host.event("thread.updated", where=lambda event: event["patch"].get("title") == "Last")
        later = host.seen("thread.updated", threadId=thread)[before:]
        assert [event["patch"]["title"] for event in later] == ["Last"]


def test_another_host_hears_at_once(tmp_path: Path) -> None:
    with HostClient(tmp_path) as one, HostClient(tmp_path) as other:
        for host in (one, other):
            host.initialize()
            host.ready()
        thread = one.ack("thread.create")["threadId"]
        for number in range(10):
            one.ack("thread.update", threadId=thread, patch={"title": f"Plan {number}"})
            other.event("thread.updated", timeout=0.5, where=lambda event, n=number: f"Plan {n}" in str(event["patch"]))
