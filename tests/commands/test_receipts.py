"""Receipts: the durable answer to every command; the same one again does nothing twice."""

import hashlib
import json
import subprocess
import sys
import time
import uuid
from typing import Any

import pytest

from sidekeep.commands.catalog import COMMANDS
from sidekeep.model.canonical import canonical
from support.hostclient import HostClient, frame
from support.stores import Store, said, text

DAY = 24 * 3600 * 1000


def sql(store: Store, statement: str, *bindings: Any) -> list[list[Any]]:
    """Rows of the store, read or changed by another process (opening the files here would drop locks)."""
    code = (
        "import apsw, json, sys\n"
        "db = apsw.Connection(sys.argv[1])\ndb.set_busy_timeout(10000)\n"
        "print(json.dumps(db.execute(sys.argv[2], json.loads(sys.argv[3])).fetchall()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.state / "sidekeep.db"), statement, json.dumps(bindings)],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    return list(json.loads(done.stdout))


def receipt(port: HostClient, submission: str, client: str | None = None) -> dict[str, Any]:
    of = {"clientId": client or port.client_id, "submissionId": submission}
    return dict(port.query("receipt.get", of=of))


def test_a_command_that_is_sent_again_gets_the_same_answer(port: HostClient) -> None:
    """E34: the same command again → the stored terminal response, nothing done twice."""
    submission = str(uuid.uuid4())
    first = port.ack("thread.create", title="once", submissionId=submission)
    again = port.ack("thread.create", title="once", submissionId=submission)
    assert again == first
    assert receipt(port, submission) == {"status": "acknowledged", "response": first}


def test_the_order_of_members_does_not_make_another_command(port: HostClient) -> None:
    """The fingerprint is over canonical JSON."""
    submission = str(uuid.uuid4())
    head = f'{{"type":"thread.create","submissionId":"{submission}",'
    port.write(frame(f'{head}"title":"é","tags":["a"]}}'.encode()))
    port.write(frame(f'{head}"tags": [ "a" ], "title":"\\u00e9"}}'.encode()))
    assert port.answer(submission, nth=1) == port.answer(submission, nth=0)


@pytest.mark.parametrize(
    "change", [{"title": "other"}, {"tags": []}, {"op": "thread.delete", "threadId": str(uuid.UUID(int=5))}]
)
def test_another_payload_under_the_same_identity_is_refused(port: HostClient, change: dict) -> None:
    """E34: the same identity with another type or payload → `invalid_command`; the first receipt stays."""
    submission = str(uuid.uuid4())
    first = port.ack("thread.create", title="first", submissionId=submission)
    op = {"op": "thread.create", "title": "first", **change}
    if op["op"] != "thread.create":
        del op["title"]
    name = op.pop("op")
    refusal = port.refused(name, submissionId=submission, **op)
    assert (refusal["code"], refusal["retryable"]) == ("invalid_command", False)
    assert receipt(port, submission)["response"] == first
    assert port.ack("thread.create", title="first", submissionId=submission) == first


def test_another_client_may_use_the_same_submission_id(port: HostClient) -> None:
    """A command's identity is `clientId + submissionId`; an op's own clientId counts, and its answer repeats it."""
    submission = str(uuid.uuid4())
    first = port.ack("thread.create", submissionId=submission)
    second = port.ack("thread.create", submissionId=submission, clientId="panel-2")
    assert second["threadId"] != first["threadId"]
    assert second["clientId"] == "panel-2"
    assert "clientId" not in first
    assert receipt(port, submission, "panel-2")["response"]["threadId"] == second["threadId"]
    again = port.ack("thread.create", submissionId=submission, clientId="panel-2")
    assert again == second


def test_a_rejection_is_kept_like_an_acknowledgement(port: HostClient) -> None:
    """A final rejection is a terminal answer: it is given again although the command would succeed now."""
    thread, submission = str(uuid.uuid4()), str(uuid.uuid4())
    first = port.refused("thread.update", threadId=thread, patch={"title": "x"}, submissionId=submission)
    assert first["code"] == "not_found"
    port.ack("thread.create", threadId=thread)
    assert port.refused("thread.update", threadId=thread, patch={"title": "x"}, submissionId=submission) == first
    assert receipt(port, submission) == {"status": "rejected", "response": first}


def test_a_command_of_the_wrong_shape_is_kept_too(port: HostClient) -> None:
    """Receipts for every command without exception: one that is refused for its members has an answer for good."""
    submission = str(uuid.uuid4())
    first = port.refused("thread.create", surplus=1, submissionId=submission)
    assert (first["code"], receipt(port, submission)) == ("invalid_command", {"status": "rejected", "response": first})
    assert port.refused("thread.create", surplus=1, submissionId=submission) == first
    # The identity is used: another payload under it is another command.
    assert port.refused("thread.create", title="whole", submissionId=submission)["code"] == "invalid_command"
    assert receipt(port, submission)["response"] == first


def test_a_retryable_rejection_keeps_no_receipt(store: Store) -> None:
    """E35: a rejection with `retryable:true` keeps no receipt: the same command is decided anew."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    port.ack("turn.submit", threadId=thread, input=text("runs"))
    for number in range(8):
        port.ack("turn.enqueue", threadId=thread, input=text(str(number)))
    submission = str(uuid.uuid4())
    refusal = port.refused("turn.enqueue", threadId=thread, input=text("ninth"), submissionId=submission)
    assert (refusal["code"], refusal["retryable"]) == ("queue_full", True)
    assert receipt(port, submission) == {"status": "unknown"}
    port.ack("queue.remove", threadId=thread, runId=_queue(port, thread)[0])
    port.ack("turn.enqueue", threadId=thread, input=text("ninth"), submissionId=submission)
    assert receipt(port, submission)["status"] == "acknowledged"


def _queue(port: HostClient, thread: str) -> list[str]:
    return [entry["runId"] for entry in port.query("thread.subscribe", threadId=thread)["queue"]]


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_hundred_parallel_resends_are_one_command(store: Store, hosts: int) -> None:
    """E34: 100 parallel retries, also by two processes: one thread, one node, one answer."""
    client = str(uuid.uuid4())
    ports = [store.open(client_id=client) for _ in range(hosts)]
    submission = str(uuid.uuid4())
    for number in range(100):
        ports[number % hosts].send("thread.create", title="once", submissionId=submission)
    answers = [port.answer(submission, nth=number, timeout=30) for port in ports for number in range(100 // hosts)]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["type"] == "command.ack"
    assert len(ports[0].query("thread.list")["threads"]) == 1


def test_a_hundred_parallel_resends_of_a_message_are_one_message(store: Store) -> None:
    """E34: of a message too; what was too much at once is answered as `overloaded`, and once again settles it."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    submission = str(uuid.uuid4())
    body = {"threadId": thread, "nodeType": "user_message", "payload": text("once"), "submissionId": submission}
    for _ in range(100):
        port.send("node.append", **body)
    answers = [port.answer(submission, nth=number) for number in range(100)]
    done = [answer for answer in answers if answer["type"] == "command.ack"]
    assert done
    assert all(answer == done[0] for answer in done)
    assert {answer["code"] for answer in answers if answer not in done} <= {"overloaded"}
    assert port.ack("node.append", **body) == done[0]
    assert len(port.query("thread.subscribe", threadId=thread)["nodes"]) == 1


def test_the_answer_survives_the_host_that_gave_it(store: Store) -> None:
    """E34, B40: the same command again, from another process after kill -9, has the same answer once."""
    port = store.open()
    thread = port.ack("thread.create")["threadId"]
    submission = str(uuid.uuid4())
    body = {"threadId": thread, "nodeType": "user_message", "payload": text("x"), "submissionId": submission}
    first = port.ack("node.append", **body)
    port.kill()
    second = store.open(client_id=port.client_id)
    assert second.ack("node.append", **body) == first
    assert len(second.query("thread.subscribe", threadId=thread)["nodes"]) == 1


def test_the_fingerprint_is_the_one_of_the_contract(store: Store) -> None:
    """`requestFingerprint`: SHA-256 of the canonical JSON of the op without type, submissionId, clientId, secrets."""
    port = store.open()
    submission = str(uuid.uuid4())
    port.ack("thread.create", title="é", tags=["b", "a"], clientId="own", submissionId=submission)
    port.ack("secret.set", name="key", value="hunter2")
    rows = sql(
        store, "SELECT command_type, client_id, submission_id, status, request_fingerprint FROM command_receipts"
    )
    by_type = {row[0]: row[1:] for row in rows}
    expected = hashlib.sha256(canonical({"title": "é", "tags": ["b", "a"]})).hexdigest()
    assert by_type["thread.create"] == ["own", submission, "acknowledged", expected]
    assert by_type["secret.set"][3] == hashlib.sha256(b'{"name":"key"}').hexdigest()


def test_a_receipt_stands_for_seven_days_and_is_then_collected(running_store: Store) -> None:
    """E35: retention is stated: 7 days; after that the receipt is collected, by whoever cares for the store."""
    port = running_store.open()
    old = port.ack("thread.create")["submissionId"]
    ((created, expires),) = sql(running_store, "SELECT created_at, expires_at FROM command_receipts")
    assert expires - created == 7 * DAY
    sql(running_store, "UPDATE command_receipts SET expires_at = created_at - 1")
    assert receipt(port, old)["status"] == "acknowledged"  # until it is collected, it stands
    port.ack("settings.set", patch={"models.default": {"connectionId": "extract", "modelId": "extract"}})
    thread = port.ack("thread.create")["threadId"]
    young = port.ack("turn.submit", threadId=thread, input=text("Anything. At all."))["submissionId"]
    end = time.monotonic() + 30
    while receipt(port, old)["status"] != "unknown":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert receipt(port, young)["status"] == "acknowledged"


def test_what_became_of_a_command_is_told_to_whoever_asks(store: Store) -> None:
    """E35: `receipt.get` from any process: acknowledged, rejected or unknown, with the response."""
    one, two = store.open(), store.open()
    done = one.ack("thread.create", title="t")
    refused = one.refused("thread.delete", threadId=str(uuid.uuid4()))
    assert receipt(two, done["submissionId"], one.client_id) == {"status": "acknowledged", "response": done}
    assert receipt(two, refused["submissionId"], one.client_id) == {"status": "rejected", "response": refused}
    assert receipt(two, str(uuid.uuid4()), one.client_id) == {"status": "unknown"}
    assert receipt(two, done["submissionId"]) == {"status": "unknown"}


# ---- every command there is ----


class World:
    """Enough of a store for each command to succeed once."""

    def __init__(self, port: HostClient) -> None:
        self.port = port

    def thread(self, **members: Any) -> str:
        return str(self.port.ack("thread.create", **members)["threadId"])

    def said(self, thread: str, words: str = "q") -> str:
        return str(
            self.port.ack("node.append", threadId=thread, nodeType="user_message", payload=text(words))["nodeId"]
        )

    def turn(self, thread: str) -> dict[str, Any]:
        return self.port.ack("turn.submit", threadId=thread, input=text("q"))

    def queued(self) -> tuple[str, str]:
        thread = self.thread()
        self.turn(thread)
        return thread, str(self.port.ack("turn.enqueue", threadId=thread, input=text("later"))["runId"])


def _forked(world: World) -> dict[str, Any]:
    thread = world.thread()
    return {"threadId": thread, "atNodeId": world.said(thread)}


def _node(world: World, member: str = "nodeId") -> dict[str, Any]:
    thread = world.thread()
    return {"threadId": thread, member: world.said(thread)}


def _trashed(world: World) -> dict[str, Any]:
    thread = world.thread()
    world.port.ack("thread.delete", threadId=thread)
    return {"threadId": thread}


def _queue_op(world: World, **members: Any) -> dict[str, Any]:
    thread, run = world.queued()
    return {"threadId": thread, "runId": run, **members}


def _saved(world: World, family: str) -> dict[str, Any]:
    answer = world.port.ack(f"{family}.save", **{family: {"name": "x"}})
    return {f"{family}Id": answer[f"{family}Id"]}


def _upload(world: World, *, bytes_in: bool = True, done: bool = False) -> dict[str, Any]:
    kind = {"kind": "file", "mime": "text/plain", "size": 3, "provenance": "user", "trust": "trusted"}
    begun = world.port.ack("attachment.begin", threadId=world.thread(), **kind)["attachmentId"]
    if bytes_in:
        world.port.ack("attachment.chunk", attachmentId=begun, index=0, data="YWJj")
    if done:
        world.port.ack("attachment.commit", attachmentId=begun)
    return {"attachmentId": begun}


def _page(world: World) -> dict[str, Any]:
    part = _upload(world, done=True)["attachmentId"]
    return {"url": "https://a.example/", "title": "A", "capturedAt": 1, "parts": [part], "text": "words"}


WORKS: dict[str, Any] = {
    "attachment.begin": lambda w: {
        "threadId": w.thread(), "kind": "file", "mime": "text/plain", "size": 3, "provenance": "user",
        "trust": "trusted",
    },
    "attachment.chunk": lambda w: {**_upload(w, bytes_in=False), "index": 0, "data": "YWJj"},
    "attachment.commit": _upload,
    "attachment.abort": _upload,
    "attachment.delete": lambda w: _upload(w, done=True),
    "attachment.pin": lambda w: {**_upload(w, done=True), "pinned": True},
    "page.capture": _page,
    "page.delete": lambda w: {"pageId": w.port.ack("page.capture", **_page(w))["pageId"]},
    "connection.models": lambda w: {"connectionId": "extract"},
    "connection.verify": lambda w: {"connectionId": "extract"},
    "thread.create": lambda w: {"title": "t"},
    "thread.update": lambda w: {"threadId": w.thread(), "patch": {"title": "t"}},
    "thread.delete": lambda w: {"threadId": w.thread()},
    "thread.restore": _trashed,
    "thread.fork": _forked,
    "thread.selectBranch": _node,
    "branch.delete": lambda w: _node(w, "leafId"),
    "node.append": lambda w: {"threadId": w.thread(), "nodeType": "assistant_message", "payload": said("a")},
    "node.delete": _node,
    "node.restore": _node,
    "turn.submit": lambda w: {"threadId": w.thread(), "input": text("q")},
    "turn.fork": lambda w: _node(w, "siblingOfNodeId"),
    "turn.enqueue": lambda w: {"threadId": w.thread(), "input": text("q")},
    "queue.update": lambda w: _queue_op(w, input=text("changed")),
    "queue.remove": _queue_op,
    "turn.interrupt": lambda w: {"threadId": w.thread()},
    "settings.set": lambda w: {"patch": {"ui.theme": "dark"}},
    "connection.save": lambda w: {"connection": {"name": "c", "kind": "extract", "enabled": False}},
    "connection.delete": lambda w: {
        "connectionId": w.port.ack(
            "connection.save", connection={"name": "c", "kind": "extract", "enabled": False}
        )["connectionId"]
    },
    "secret.set": lambda w: {"name": "k", "value": "v"},
    "secret.delete": lambda w: {"name": w.port.ack("secret.set", name="gone", value="v") and "gone"},
    "rule.save": lambda w: {"rule": {"tool": "read_page", "origin": "https://a.example", "verdict": "ask"}},
    "rule.delete": lambda w: {
        "ruleId": w.port.ack("rule.save", rule={"tool": "x", "origin": "https://b", "verdict": "deny"})["ruleId"]
    },
    "folder.save": lambda w: {"folder": {"name": "f"}},
    "folder.delete": lambda w: _saved(w, "folder"),
    "preset.save": lambda w: {"preset": {"name": "p"}},
    "preset.delete": lambda w: _saved(w, "preset"),
    "memory.set": lambda w: {"key": "k", "value": "v"},
    "memory.delete": lambda w: {"memoryId": w.port.ack("memory.set", key="gone", value="v")["memoryId"]},
}  # fmt: skip

#: With no world in which they succeed, they are refused; that has its receipt as well.
REFUSED: dict[str, dict[str, Any]] = {
    "run.resume": {"threadId": str(uuid.UUID(int=1)), "runId": str(uuid.UUID(int=2))},
    "job.cancel": {"jobId": str(uuid.UUID(int=3))},
}


@pytest.fixture(scope="module")
def world(port: HostClient) -> World:
    """One port for all of them."""
    return World(port)


@pytest.mark.parametrize("op", sorted(WORKS))
def test_every_command_has_a_receipt_and_is_done_once(world: World, op: str) -> None:
    """Receipts for every command without exception: acknowledged, found, and the same again gets the same."""
    members = WORKS[op](world)
    first = world.port.ack(op, **members)
    submission = first["submissionId"]
    assert receipt(world.port, submission) == {"status": "acknowledged", "response": first}
    changes = world.port.ack(op, **members, submissionId=submission)
    assert changes == first


@pytest.mark.parametrize("op", ["vault.unlock", "vault.lock", "vault.rekey"])
def test_commands_on_the_vault_have_receipts(store: Store, op: str) -> None:
    """A passphrase is in no receipt; what was done with it is."""
    port = store.open()
    port.ack("secret.set", name="k", value="v")
    first = port.ack(op)
    assert receipt(port, first["submissionId"]) == {"status": "acknowledged", "response": first}
    assert port.ack(op, submissionId=first["submissionId"]) == first


@pytest.mark.parametrize("op", sorted(set(COMMANDS)))
def test_every_command_that_is_refused_has_a_receipt_too(world: World, op: str) -> None:
    """The same for a refusal: of a command of the wrong shape, whichever it is."""
    submission = str(uuid.uuid4())
    first = world.port.refused(op, submissionId=submission, noSuchMember=1)
    assert first["code"] == "invalid_command"
    assert receipt(world.port, submission) == {"status": "rejected", "response": first}
    assert world.port.refused(op, submissionId=submission, noSuchMember=1) == first


@pytest.mark.parametrize("op", sorted(REFUSED))
def test_a_command_on_nothing_is_refused_for_good(world: World, op: str) -> None:
    """`not_found` is final and kept."""
    first = world.port.refused(op, **REFUSED[op])
    assert first["code"] == "not_found"
    assert receipt(world.port, first["submissionId"])["response"] == first
