"""Frames that no browser sends: each gets a typed answer, the stream stays usable, memory stays bounded."""

import json
import random
import struct
import uuid
from typing import Any

import pytest

from support.hostclient import HostClient, frame
from support.stores import Store, text

ID = str(uuid.uuid4())


def named(body: str) -> bytes:
    """An op whose members are given as JSON text, so that they can be wrong in ways json.dumps cannot."""
    return (f'{{"type":"thread.list","submissionId":"{ID}"' + body + "}").encode()


BAD_FRAMES = {
    "empty": b"",
    "invalid UTF-8": b'{"type":"ping\xff"}',
    "overlong UTF-8": b'{"type":"\xc0\xafping"}',
    "half a surrogate in UTF-8": b'{"type":"\xed\xa0\x80"}',
    "UTF-16": '{"type":"ping"}'.encode("utf-16"),
    "a BOM": b"\xef\xbb\xbf{}",
    "no JSON": b"GET / HTTP/1.1\r\n",
    "half an object": b'{"type":"ping"',
    "two objects": b"{}{}",
    "a trailing comma": b'{"type":"ping",}',
    "a comment": b'{"type":"ping"} // hello',
    "an array": b'[{"type":"ping"}]',
    "a string": b'"ping"',
    "a number": b"7",
    "null": b"null",
    "only white space": b" \n\t ",
    "NUL bytes": bytes(100),
    "NaN": named(',"limit":NaN'),
    "Infinity": named(',"limit":-Infinity'),
    "a number like a program's": named(',"limit":0x10'),
    "a number with a leading zero": named(',"limit":010'),
    "a bare control character in a string": named(',"cursor":"a\nb"'),
    "an unknown escape": named(',"cursor":"\\x41"'),
    "deep arrays": named(',"cursor":' + "[" * 100_000 + "]" * 100_000),
    "deep objects": named(',"cursor":' + '{"a":' * 100_000 + "1" + "}" * 100_000),
    "deep and open": b'{"a":' * 500_000,
    "nesting just over the limit": named(',"cursor":' + "[" * 300 + "]" * 300),
}


@pytest.mark.parametrize("body", BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_a_bad_frame_is_an_invalid_frame(port: HostClient, body: bytes) -> None:
    """Anything but one JSON object in UTF-8 gets `error` `invalid_frame`; the stream stays usable (B32)."""
    port.write(frame(body))
    error = port.event("error")
    assert (error["code"], error["retryable"]) == ("invalid_frame", False)
    assert port.ask("ping")["type"] == "pong"


BAD_OPS = {
    "a huge exponent": ',"limit":1e400',
    "a number with ten thousand digits": ',"limit":' + "9" * 10_000,
    "a number beyond 2^53": ',"limit":9007199254740993',
    "a fraction": ',"limit":1.5',
    "a negative": ',"limit":-1',
    "zero": ',"limit":0',
    "a boolean for a number": ',"limit":true',
    "null for an absent member": ',"limit":null',
    "an object for a text": ',"cursor":{}',
    "a forged cursor": ',"cursor":"AAAA"',
    "a cursor of another alphabet": ',"cursor":"漢字"',
    "a status that is none": ',"status":"sleeping"',
    "a member named like Python's": ',"__class__":1',
    "a member in snake_case": ',"with_total":true',
    "a member of odd Unicode": ',"\\ud800":1',
    "an empty member": ',"":1',
}


@pytest.mark.parametrize("members", BAD_OPS.values(), ids=BAD_OPS)
def test_a_bad_op_is_refused_by_its_submission(port: HostClient, members: str) -> None:
    """An op of the wrong shape is `command.rejected` `invalid_command`, and names itself."""
    submission = str(uuid.uuid4())
    port.write(frame(named(members).replace(ID.encode(), submission.encode())))
    answer = port.answer(submission)
    assert (answer["type"], answer["code"], answer["retryable"]) == ("command.rejected", "invalid_command", False)
    assert answer["message"]


def test_duplicate_keys_do_not_make_two_ops(port: HostClient) -> None:
    """One of the two counts, for the answer as for the receipt; nothing is done twice."""
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    port.write(
        frame(
            f'{{"type":"thread.list","type":"thread.create","submissionId":"{first}","submissionId":"{second}",'
            f'"title":"one","title":"two"}}'.encode()
        )
    )
    answer = port.answer(second)
    assert answer["type"] == "command.ack"
    assert port.query("thread.subscribe", threadId=answer["threadId"])["thread"]["title"] == "two"
    receipt = port.query("receipt.get", of={"clientId": port.client_id, "submissionId": second})
    assert receipt["response"]["threadId"] == answer["threadId"]
    asked = {"clientId": port.client_id, "submissionId": first}
    assert port.query("receipt.get", of=asked)["status"] == "unknown"


def test_numbers_that_no_double_holds_become_strings(port: HostClient) -> None:
    """Numbers beyond ±(2^53-1) become strings on entry; a tool call's arguments are the provider's text."""
    submission, thread = str(uuid.uuid4()), port.ack("thread.create")["threadId"]
    details = '{"type":"text","text":"n"}'
    port.write(
        frame(
            f'{{"type":"node.append","submissionId":"{submission}","threadId":"{thread}",'
            f'"nodeType":"assistant_message","payload":{{"content":[{details}],"model":"m","connectionId":"c",'
            f'"providerState":{{"safe":9007199254740991,"beyond":9007199254740992,"below":-9007199254740992,'
            f'"huge":1e300,"tiny":1e-300,"digits":123456789012345678901234567890}}}}}}'.encode()
        )
    )
    assert port.answer(submission)["type"] == "command.ack"
    shown = port.query("thread.subscribe", threadId=thread)["nodes"][0]["payload"]["providerState"]
    assert shown == {
        "safe": 9007199254740991,
        "beyond": "9007199254740992",
        "below": "-9007199254740992",
        "huge": "1e300",
        "tiny": 1e-300,
        "digits": "123456789012345678901234567890",
    }


def test_parts_are_for_the_other_direction(port: HostClient) -> None:
    """A flood of `part` messages is a flood of unknown ops: each refused, none kept."""
    submissions = [str(uuid.uuid4()) for _ in range(500)]
    for number, submission in enumerate(submissions):
        part = {"type": "part", "submissionId": submission, "id": ID, "index": number, "count": 10**9, "data": "x"}
        port.write(frame(json.dumps(part).encode()))
    assert {port.answer(submission)["code"] for submission in submissions} == {"invalid_command"}


@pytest.mark.parametrize("size", [0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, 9 * 1024 * 1024])
def test_an_end_inside_a_frame_that_is_too_long_is_an_end(store: Store, size: int) -> None:
    """A length of 4 GiB is no allocation; a stream that ends inside a frame is a normal end."""
    host = store.open()
    host.write(struct.pack("=I", size) + b"x" * 100_000)
    host.close_input()
    assert host.wait_end(1) == 0
    assert not host.seen("error")


def test_two_thousand_mutated_frames_get_an_answer_each(store: Store) -> None:
    """Reliability: hostile frames against the real process: typed answers, only frames on stdout, flat memory."""
    host = store.open()
    thread = host.ack("thread.create", title="kept")["threadId"]
    host.ack("node.append", threadId=thread, nodeType="user_message", payload=text("kept"))
    whole = host.query("thread.subscribe", threadId=thread)
    dice = random.Random(20_260_801)
    count = 2_000
    for _ in range(count):
        host.write(frame(_mutated(dice, thread)))
    # What answers an op of its own, and what answers none: together one for each frame.
    kinds = ("error", "command.ack", "command.rejected", "result", "pong")
    assert host.ask("ping", timeout=30)["type"] == "pong"
    answers = [event for event in host.events if event["type"] in kinds]
    assert len(answers) == 3 + count + 1
    assert all(event["code"] in KNOWN for event in answers if event["type"] in ("error", "command.rejected"))
    after = host.query("thread.subscribe", threadId=thread)
    assert after["nodes"] == whole["nodes"]
    assert _resident(host) < 120 * 1024 * 1024


KNOWN = frozenset(("invalid_frame", "invalid_command", "not_found", "conflict", "message_too_large", "overloaded"))
SEEDS: list[dict[str, Any]] = [
    {"type": "thread.list", "limit": 10, "archived": "all"},
    {"type": "thread.page", "beforeNodeId": ID, "limit": 20},
    {"type": "receipt.get", "of": {"clientId": "c", "submissionId": ID}},
    {"type": "ping"},
    {"type": "settings.get", "keys": ["ui.theme"]},
    {"type": "branch.list"},
]


def _mutated(dice: random.Random, thread: str) -> bytes:
    """A query with some of its bytes changed, cut, doubled, or its values exchanged."""
    op = {**dice.choice(SEEDS), "submissionId": str(uuid.UUID(int=dice.getrandbits(128)))}
    if op["type"] in ("thread.page", "branch.list"):
        op["threadId"] = thread
    for _ in range(dice.randrange(3)):
        op[dice.choice([*op, "extra"])] = dice.choice(
            [None, 7, -1, 1e308, "", "x" * 1000, [], [[]], {}, {"a": {}}, True]
        )
    body = bytearray(json.dumps(op).encode())
    for _ in range(dice.randrange(4)):
        at = dice.randrange(len(body))
        match dice.randrange(4):
            case 0:
                body[at] = dice.randrange(256)
            case 1:
                del body[at : at + dice.randrange(10)]
            case 2:
                body[at:at] = body[at : at + 20]
            case 3:
                body[at:at] = bytes(dice.randrange(256) for _ in range(5))
        if not body:
            return b"{}"
    return bytes(body)


def _resident(host: HostClient) -> int:
    with open(f"/proc/{host.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
