"""The opening of a port: initialize, what comes before and after it, and other versions."""

import re
import uuid

import pytest

from sidekeep.model.contract import SCHEMA_HASH
from support.hostclient import HostClient
from support.stores import Store

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_initialize_is_answered_with_everything_that_a_client_has_to_know(store: Store) -> None:
    """Handshake: protocol, schema hash, who answers, limits, and the ops on offer."""
    host = store.start()
    submission = str(uuid.uuid4())
    answer = host.initialize(submissionId=submission, schemaHash=SCHEMA_HASH)
    assert set(answer) == {"type", "submissionId", "protocol", "schemaHash", "host", "limits", "capabilities"}
    assert (answer["type"], answer["submissionId"], answer["protocol"]) == ("initialized", submission, "sidekeep/1")
    assert answer["schemaHash"] == SCHEMA_HASH
    assert answer["host"]["pid"] == host.process.pid
    assert UUID.fullmatch(answer["host"]["instanceId"])
    assert answer["host"]["version"]
    assert answer["limits"] == {
        "messageBytes": 8 * 1024 * 1024,
        "uploadBytes": 64 * 1024 * 1024,
        "chunkBytes": 256 * 1024,
        "snapshotNodes": 200,
        "queue": 8,
        "waitingOps": 32,
    }
    assert answer["capabilities"] == sorted(set(answer["capabilities"]))
    assert {"thread.create", "turn.submit", "receipt.get", "ping", "initialize"} <= set(answer["capabilities"])


def test_store_ready_comes_once_with_the_stores_id(store: Store) -> None:
    """`store.ready {storeId}` once; another host on the same store names the same."""
    first = store.start()
    first.initialize()
    ready = first.ready()
    assert set(ready) == {"type", "storeId"}
    assert UUID.fullmatch(ready["storeId"])
    second = store.start()
    second.initialize()
    assert second.ready()["storeId"] == ready["storeId"]
    assert second.ask("ping")["type"] == "pong"
    assert len(second.seen("store.ready")) == 1


def test_each_host_has_an_instance_id_of_its_own(store: Store) -> None:
    """B38: several browsers, several hosts, one store."""
    answers = [store.start().initialize() for _ in range(3)]
    assert len({answer["host"]["instanceId"] for answer in answers}) == 3


@pytest.mark.parametrize("schema_hash", ["*", "0" * 64, "another"])
def test_another_schema_is_no_reason_to_refuse(store: Store, schema_hash: str) -> None:
    """Another `schemaHash` is fine: the panel hides what `capabilities` lacks (B47)."""
    host = store.start()
    answer = host.initialize(schemaHash=schema_hash)
    assert (answer["type"], answer["schemaHash"]) == ("initialized", SCHEMA_HASH)


def test_another_protocol_is_fatal_and_names_both(store: Store) -> None:
    """Only another `protocol` is fatal; then the host closes its output (B46)."""
    host = store.start()
    answer = host.initialize(protocol="sidekeep/2", aNewMember={"x": 1})
    assert answer["type"] == "fatal.reload_required"
    assert (answer["protocol"], answer["clientProtocol"]) == ("sidekeep/1", "sidekeep/2")
    assert answer["host"]["pid"] == host.process.pid
    assert answer["message"]
    assert host.wait_end(1) == 0
    assert len(host.events) == 1


def test_an_op_before_initialize_is_refused_and_initialize_still_works(store: Store) -> None:
    """`not_initialized`, not retryable; ping is an op like the others here."""
    host = store.start()
    for op in ("ping", "thread.list", "thread.create", "no.such.op"):
        refusal = host.refused(op)
        assert (refusal["code"], refusal["retryable"]) == ("not_initialized", False)
    assert host.initialize()["type"] == "initialized"


def test_a_refusal_before_initialize_repeats_the_ops_own_client(store: Store) -> None:
    """An op may carry its own clientId; its answer repeats it."""
    host = store.start()
    assert host.refused("ping", clientId="panel-7")["clientId"] == "panel-7"


def test_an_op_refused_before_initialize_leaves_no_receipt(store: Store) -> None:
    """`not_initialized` is not kept: the same command is decided anew."""
    host = store.start()
    submission = host.refused("thread.create", title="a")["submissionId"]
    host.initialize()
    assert host.ack("thread.create", title="a", submissionId=submission)["threadId"]


def test_a_second_initialize_is_refused(store: Store) -> None:
    """A second `initialize` → `invalid_command`; the port goes on."""
    host = store.open()
    assert host.initialize()["code"] == "invalid_command"
    assert host.ask("ping")["type"] == "pong"


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"clientId": ""}, "clientId"),
        ({"clientId": 7}, "clientId"),
        ({"clientId": "x" * 201}, "clientId"),
        ({"schemaHash": None}, "schemaHash"),
        ({"schemaHash": "x" * 65}, "schemaHash"),
        ({"protocol": 1}, "protocol"),
        ({"surplus": 1}, "surplus"),
        ({"subscribe": {}}, "subscribe"),
        ({"subscribe": {"threadId": "no uuid"}}, "subscribe"),
        ({"subscribe": {"threadId": str(uuid.uuid4()), "more": 1}}, "subscribe"),
        ({"subscribe": None}, "subscribe"),
    ],
)
def test_a_wrong_initialize_names_the_member_and_may_be_mended(store: Store, members: dict, named: str) -> None:
    """Ops carry no more members than named: `invalid_command`, naming the member."""
    host = store.start()
    opening = {"protocol": "sidekeep/1", "schemaHash": "*", "clientId": host.client_id}
    answer = host.ask("initialize", **{**opening, **members})
    assert answer["code"] == "invalid_command"
    assert named in answer["message"]
    assert host.initialize()["type"] == "initialized"


def test_subscribe_brings_a_snapshot_after_store_ready(store: Store) -> None:
    """With `subscribe` an event `thread.snapshot` follows."""
    host = store.open()
    thread = host.ack("thread.create", title="Seen at once")["threadId"]
    second = store.open(subscribe=thread)
    snapshot = second.event("thread.snapshot")
    assert snapshot["threadId"] == thread
    assert snapshot["thread"]["title"] == "Seen at once"
    kinds = [event["type"] for event in second.events]
    assert kinds.index("initialized") < kinds.index("store.ready") < kinds.index("thread.snapshot")
    host.ack("node.append", threadId=thread, nodeType="system_notice", payload={"text": "heard"})
    assert second.event("thread.node")["threadId"] == thread


def test_subscribe_to_a_thread_that_is_gone_is_an_error_and_no_end(store: Store) -> None:
    """The panel's last thread may have been purged elsewhere: the port lives on."""
    host = store.open(subscribe=str(uuid.uuid4()))
    assert host.event("error")["code"] == "not_found"
    assert host.ask("ping")["type"] == "pong"


def test_ops_sent_right_behind_initialize_wait_for_the_store(store: Store) -> None:
    """B43: early ops queue while the store opens, and are answered in order."""
    host = store.start()
    host.send("initialize", protocol="sidekeep/1", schemaHash="*", clientId=host.client_id)
    sent = [host.send("thread.create", title=str(number)) for number in range(10)]
    listed = host.query("thread.list")
    assert [host.answer(submission)["type"] for submission in sent] == ["command.ack"] * 10
    assert {thread["title"] for thread in listed["threads"]} == {str(number) for number in range(10)}


def test_the_first_answer_comes_within_half_a_second(store: Store) -> None:
    """Bar: the first answer in under 500 ms from a cold start."""
    host = HostClient(store.state)
    try:
        assert host.initialize(timeout=0.5)["type"] == "initialized"
    finally:
        host.close()


def test_ping_repeats_who_asked(port: HostClient) -> None:
    """`ping` → `pong` with the submissionId, and the op's own clientId."""
    submission = str(uuid.uuid4())
    assert port.ask("ping", submissionId=submission, clientId="panel-2") == {
        "type": "pong",
        "submissionId": submission,
        "clientId": "panel-2",
    }


def test_an_op_without_usable_names_gets_an_error(port: HostClient) -> None:
    """`error` `invalid_command` for an op without usable `type` or `submissionId`."""
    for message in (
        {"type": "ping"},
        {"type": "ping", "submissionId": "7"},
        {"type": "ping", "submissionId": str(uuid.uuid4()).upper()},
        {"type": 7, "submissionId": str(uuid.uuid4())},
        {"submissionId": str(uuid.uuid4())},
        {},
    ):
        before = len(port.seen("error"))
        port.write(_frame(message))
        error = port.until(lambda _, n=before: port.seen("error")[n:], "an error")[0]
        assert (error["code"], error["retryable"]) == ("invalid_command", False)
        assert "submissionId" not in error


@pytest.mark.parametrize("op", ["no.such.op", "", "thread", "THREAD.LIST", "__init__", "catalog.handler"])
def test_an_unknown_op_is_refused_by_name(port: HostClient, op: str) -> None:
    """Closed list of ops: nothing else is reachable by a name."""
    refusal = port.refused(op)
    assert (refusal["code"], refusal["retryable"]) == ("invalid_command", False)


def test_an_unknown_member_is_refused_by_name(port: HostClient) -> None:
    """Ops may not carry more members than named; absent optionals are left out, never null."""
    assert "surplus" in port.refused("thread.list", surplus=1)["message"]
    assert "purgee" in port.refused("thread.delete", threadId=str(uuid.uuid4()), purgee=True)["message"]
    assert "title" in port.refused("thread.create", title=None)["message"]


def _frame(message: dict) -> bytes:
    import json

    from support.hostclient import frame

    return frame(json.dumps(message).encode())
