"""Jobs through the wire and the real runner: begun, told of, cancelled, and taken up again after kill -9."""

import os
import signal
import threading
import uuid
from typing import Any

from support.hostclient import HostClient
from support.runners import kill_runner, lives, runner_of, until
from support.scripted import HANG, ScriptedServer, document
from support.stores import Store

MODELS = {"object": "list", "data": [{"id": "m1", "object": "model"}, {"id": "m2", "object": "model"}]}


def connection(server: ScriptedServer, **members: Any) -> dict[str, Any]:
    return {"id": "far", "name": "Far", "kind": "openai", "baseUrl": server.url, "enabled": True, **members}


def done(host: HostClient, job_id: str, timeout: float | None = None) -> dict[str, Any]:
    return host.event("job.done", jobId=job_id, timeout=timeout)


def test_begun_and_told(running_store: Store) -> None:
    """The acknowledgement names the job, every port hears how far it is and how it ended, and the list keeps it."""
    host, other = running_store.open(), running_store.open()
    job_id = host.ack("connection.verify", connectionId="extract")["jobId"]
    end = done(host, job_id)
    assert done(other, job_id) == end
    assert end["state"] == "done"
    assert end["data"]["ok"]
    assert [step["name"] for step in end["data"]["steps"]] == ["reachable", "key", "streaming", "tools"]
    progress = [(event["done"], event["total"]) for event in host.seen("job.progress", jobId=job_id)]
    assert progress == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    (entry,) = other.query("job.list")["jobs"]
    assert (entry["jobId"], entry["kind"], entry["state"]) == (job_id, "connection.verify", "done")
    assert (entry["done"], entry["total"], entry["data"]) == (4, 4, end["data"])


def test_the_same_command_again(running_store: Store) -> None:
    """E34: a resent command names the same job; it is done once."""
    host = running_store.open()
    submission = str(uuid.uuid4())
    first = host.ack("connection.models", connectionId="extract", submissionId=submission)
    done(host, first["jobId"])
    assert host.ack("connection.models", connectionId="extract", submissionId=submission) == first
    assert len(host.query("job.list")["jobs"]) == 1


def test_unknown(store: Store) -> None:
    """A connection or a job that is not there is refused by name."""
    host = store.open()
    assert host.refused("connection.models", connectionId="none")["code"] == "not_found"
    assert host.refused("connection.verify", connectionId="none")["code"] == "not_found"
    assert host.refused("job.cancel", jobId=str(uuid.uuid4()))["code"] == "not_found"


def test_cancelled_while_it_waits(store: Store) -> None:
    """A job that has not begun ends at once, without a runner; cancelling it again is fine."""
    host = store.open()
    job_id = host.ack("connection.verify", connectionId="extract")["jobId"]
    host.ack("job.cancel", jobId=job_id)
    end = done(host, job_id)
    assert end["state"] == "cancelled"
    assert end["code"] == "conflict"
    host.ack("job.cancel", jobId=job_id)
    assert host.query("job.list")["jobs"][0]["state"] == "cancelled"


def test_cancelled_while_it_works(running_store: Store, server: ScriptedServer) -> None:
    """A job that waits for the network ends when it is told to, and its connection is closed."""
    host = running_store.open()
    host.ack("connection.save", connection=connection(server))
    server.play(*document(MODELS))
    server.play(HANG)
    job_id = host.ack("connection.verify", connectionId="far")["jobId"]
    asked = server.request(1)
    host.ack("job.cancel", jobId=job_id)
    assert done(host, job_id, timeout=5)["state"] == "cancelled"
    assert asked.gone.wait(5)


def test_kill_9_in_the_middle(running_store: Store, server: ScriptedServer) -> None:
    """The runner is killed while the job waits for an answer: the next one goes on after the last step, asks what was
    not answered again, and nothing that was."""
    host = running_store.open()
    host.ack("connection.save", connection=connection(server))
    server.play(*document(MODELS))
    server.play(HANG)
    job_id = host.ack("connection.verify", connectionId="far")["jobId"]
    server.request(1)
    host.event("job.progress", jobId=job_id, note="key")
    server.play(*document({"error": {"message": "no"}}, 401))
    dead = kill_runner(running_store.state)
    end = done(host, job_id, timeout=20)
    assert until(lambda: runner_of(running_store.state), "next runner") != dead
    paths = [request.path for request in server.requests]
    assert [path.rpartition("/")[2] for path in paths] == ["models", "completions", "completions"]
    assert [(step["name"], step["ok"]) for step in end["data"]["steps"]] == [
        ("reachable", True),
        ("key", False),
        ("streaming", False),
        ("tools", False),
    ]
    assert not end["data"]["ok"]
    assert end["data"]["steps"][1]["code"] == "provider_auth"


def test_a_job_that_kills(running_store: Store, server: ScriptedServer) -> None:
    """A job at whose same step three runners ended is given up, and says so; others go on."""
    host = running_store.open()
    host.ack("connection.save", connection=connection(server))
    server.play(*document(MODELS))
    job_id = ""
    for death in range(3):
        server.play(HANG)
        if not job_id:
            job_id = host.ack("connection.verify", connectionId="far")["jobId"]
        server.request(death + 1)
        kill_runner(running_store.state)
    end = done(host, job_id, timeout=20)
    assert end["state"] == "failed"
    assert end["code"] == "internal"
    assert done(host, host.ack("connection.models", connectionId="extract")["jobId"])["state"] == "done"


def test_let_go(running_store: Store, server: ScriptedServer) -> None:
    """A runner that is told to leave hands its job over: the next one goes on, and no death is counted."""
    host = running_store.open()
    host.ack("connection.save", connection=connection(server))
    server.play(*document(MODELS))
    job_id = ""
    for times in range(4):
        server.play(HANG)
        if not job_id:
            job_id = host.ack("connection.verify", connectionId="far")["jobId"]
        server.request(times + 1)
        pid = until(lambda: runner_of(running_store.state), "runner")
        os.kill(pid, signal.SIGTERM)
        until(lambda pid=pid: not lives(pid), "end of the runner")
        server.play(*document({"error": {"message": "no"}}, 401)) if times == 3 else None
    end = done(host, job_id, timeout=20)
    assert end["state"] == "done"
    assert end["data"]["steps"][1]["code"] == "provider_auth"


def test_without_hosts(running_store: Store, server: ScriptedServer) -> None:
    """Closing the browser stops no job: its report is there when somebody comes back."""
    host = running_store.open()
    host.ack("connection.save", connection=connection(server))
    release = threading.Event()
    server.play(release, *document(MODELS))
    job_id = host.ack("connection.models", connectionId="far")["jobId"]
    server.request(0)
    host.close()
    release.set()
    again = running_store.open()
    entry = until(
        lambda: next((job for job in again.query("job.list")["jobs"] if job["state"] == "done"), None), "end of the job"
    )
    assert entry["jobId"] == job_id
    assert [model["id"] for model in entry["data"]["models"]] == ["m1", "m2"]
