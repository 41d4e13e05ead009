"""Frames: a length and so many bytes, whatever the pipe does to them; long events in parts."""

import json
import os
import struct
import uuid
from collections.abc import Iterator

import pytest

from support.hostclient import FRAME_LIMIT, HostClient, frame
from support.stores import Store, text

ODD_TEXTS = [
    "😀 emoji beyond the BMP 🀄",
    "漢字かな",
    "e\u0301 and é",
    "NUL \x00 inside",
    "line separators \u2028 \u2029",
    "\ufeffa BOM, and noncharacters \uffff \U0010ffff",
    "CR LF \r\n, ctrl-Z \x1a, backspace \b",
    '"quotes" and \\backslashes\\ and /slashes/',
    "right to left עברית العربية",
    " ",
    "x" * 70_000,
]


@pytest.mark.parametrize("words", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_any_text_comes_back_as_it_went(port: HostClient, words: str) -> None:
    """B31, B33: a length counts UTF-8 bytes; no byte is translated, in either direction."""
    thread = port.ack("thread.create", title=words[:1000])["threadId"]
    port.ack("node.append", threadId=thread, nodeType="user_message", payload=text(words))
    shown = port.query("thread.subscribe", threadId=thread)
    assert shown["thread"]["title"] == words[:1000]
    assert shown["nodes"][0]["payload"] == text(words)


@pytest.mark.parametrize("escaped", [True, False])
def test_a_lone_surrogate_becomes_a_replacement_character(port: HostClient, escaped: bool) -> None:
    """Text is any Unicode; a lone surrogate becomes U+FFFD and never fails a command (E56)."""
    submission = str(uuid.uuid4())
    op = {"type": "thread.create", "submissionId": submission, "title": "a\ud800b\udc00\ud83d\ude00"}
    if escaped:
        body = json.dumps(op).encode()
        port.write(frame(body))
        thread = port.answer(submission)["threadId"]
        listed = port.query("thread.subscribe", threadId=thread)
        assert listed["thread"]["title"] == "a\ufffdb\ufffd😀"
    else:  # raw halves are no UTF-8: an invalid frame, and the stream goes on
        port.write(frame(json.dumps(op, ensure_ascii=False).encode("utf-8", "surrogatepass")))
        assert port.event("error")["code"] == "invalid_frame"
        assert port.ask("ping")["type"] == "pong"


def test_frames_may_come_in_any_pieces(store: Store) -> None:
    """B32: a header split over reads, one byte at a time, many frames in one write."""
    host = store.start()
    opening = _op("initialize", protocol="sidekeep/1", schemaHash="*", clientId=host.client_id)
    for byte in frame(opening[1]):
        host.write(bytes([byte]))
    assert host.answer(opening[0])["type"] == "initialized"
    ops = [_op("ping") for _ in range(3)]
    whole = b"".join(frame(body) for _, body in ops)
    for cut in (1, 3, 4, 5, len(whole) - 1):
        host.write(whole[:cut])
        host.write(whole[cut:])
    for number, (submission, _) in enumerate(ops):
        assert host.answer(submission, nth=4)["type"] == "pong", number


def test_ten_thousand_small_frames_each_have_an_answer(store: Store) -> None:
    """B32: 10⁴ tiny frames at once; every one is answered, in order."""
    host = store.open()
    ops = [_op("ping") for _ in range(10_000)]
    host.write(b"".join(frame(body) for _, body in ops))
    assert host.answer(ops[-1][0], timeout=30)["type"] == "pong"
    assert [event["submissionId"] for event in host.seen("pong")] == [submission for submission, _ in ops]


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_longest_frame_is_exactly_one_mebibyte(store: Store, over: int) -> None:
    """B29, E55: 1,048,576 bytes go whole, one byte more goes in parts."""
    host = store.open()
    memory = str(uuid.uuid4())
    host.ack("memory.set", memoryId=memory, key="long", value="")
    host.query("memory.list")
    least = host.frame_sizes[-1]
    value = "x" * (FRAME_LIMIT + over - least)
    host.ack("memory.set", memoryId=memory, key="long", value=value)
    answer = host.query("memory.list", submissionId=str(uuid.uuid4()))
    assert answer["memories"][0]["value"] == value
    frames = [size for size in host.frame_sizes if size > 400_000]
    if over > 0:
        assert len(frames) >= 1
        assert max(frames) <= FRAME_LIMIT
        assert host.frame_sizes[-1] < FRAME_LIMIT  # the rest came in a part of its own
    else:
        assert frames[-1] == FRAME_LIMIT + over


@pytest.mark.parametrize("piece", ["x", "\\", '"', "\n", "é", "漢", "😀", "\x00", "\u2028"])
def test_a_long_event_goes_in_parts_that_join_to_the_same(store: Store, piece: str) -> None:
    """Parts are joined in index order; no part splits a character or its escape; each is a legal frame."""
    host = store.open()
    value = piece * (3_000_000 // (len(json.dumps(piece, ensure_ascii=False).encode()) - 2))
    host.ack("memory.set", key="long", value=value)
    assert host.query("memory.list", timeout=30)["memories"][0]["value"] == value
    assert max(host.frame_sizes) <= FRAME_LIMIT
    assert sum(size > 500_000 for size in host.frame_sizes) >= 2


def test_a_message_of_eight_mebibytes_is_taken_and_one_byte_more_is_not(store: Store) -> None:
    """The host accepts 8 MiB a message; a longer one is `message_too_large` after skipping exactly its bytes."""
    host = store.open()
    limit = 8 * 1024 * 1024
    submission, body = _op("memory.set", key="k", value="")
    host.write(frame(body.replace(b'"value": ""', b'"value": "' + b"y" * (limit - len(body)) + b'"')))
    assert host.answer(submission, timeout=30)["type"] == "command.ack"
    host.write(frame(b"z" * (limit + 1)) + frame(_op("ping")[1]))
    error = host.event("error")
    assert (error["code"], error["retryable"]) == ("message_too_large", False)
    assert host.event("pong")


def test_sixty_four_mebibytes_are_skipped_without_being_held(store: Store) -> None:
    """E55: a frame of the browser's own maximum is skipped; memory stays flat."""
    host = store.open()
    before = _peak(host)
    size = 64 * 1024 * 1024
    host.write(struct.pack("=I", size))
    for _ in range(64):
        host.write(bytes(1024 * 1024))
    assert host.event("error", timeout=30)["code"] == "message_too_large"
    assert host.ask("ping")["type"] == "pong"
    assert _peak(host) - before < 16 * 1024 * 1024


def test_the_stream_is_usable_after_each_bad_frame_before_initialize_too(store: Store) -> None:
    """Length 0, invalid UTF-8, no object, too long: an `error` each, and then initialize works."""
    host = store.start()
    codes = []
    for bad in (b"\0\0\0\0", frame(b"\xff"), frame(b"[1]"), frame(b"nope"), frame(bytes(9 * 1024 * 1024))):
        host.write(bad)
        codes.append(host.event("error")["code"])
    assert codes == ["invalid_frame"] * 4 + ["message_too_large"]
    assert host.initialize()["type"] == "initialized"


def test_other_events_may_come_between_parts(store: Store) -> None:
    """A long answer and a short one on the same port are both whole, whatever their frames' order."""
    host = store.open()
    host.ack("memory.set", key="long", value="x" * 3_000_000)
    sent = [host.send("memory.list") for _ in range(4)]
    pongs = [host.send("ping") for _ in range(4)]
    for submission in sent:
        assert len(host.answer(submission, timeout=30)["data"]["memories"][0]["value"]) == 3_000_000
    for submission in pongs:
        assert host.answer(submission)["type"] == "pong"


@pytest.fixture
def closed_descriptors() -> Iterator[list[int]]:
    """Descriptors that a test opened by hand."""
    opened: list[int] = []
    yield opened
    for descriptor in opened:
        os.close(descriptor)


def test_a_pipe_that_does_not_block_is_read_and_written_whole(store: Store, closed_descriptors: list[int]) -> None:
    """A browser may hand over a pipe in non-blocking mode: no frame is cut, no read taken for the end."""
    import fcntl
    import subprocess

    from support.hostclient import fixed_origin, host_command

    there, ours = os.pipe()
    back, out = os.pipe()
    closed_descriptors += [ours, back]
    for descriptor in (there, out):
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_NONBLOCK)
    process = subprocess.Popen(
        [*host_command(), fixed_origin()],
        stdin=there,
        stdout=out,
        env={**os.environ, "SIDEKEEP_STATE": str(store.state)},
    )
    os.close(there)
    os.close(out)
    submission, opening = _op("initialize", protocol="sidekeep/1", schemaHash="*", clientId="c")
    os.write(ours, frame(opening))
    memory = _op("memory.set", key="long", value="x" * 60_000)[1]
    os.write(ours, frame(memory))
    for _ in range(40):  # more than a pipe holds, before we read any of it
        os.write(ours, frame(_op("memory.list")[1]))
    found = b""
    seen: list[dict] = []
    while sum(event["type"] == "result" for event in seen) < 40:
        piece = os.read(back, 65536)
        assert piece, seen
        found += piece
        while len(found) >= 4 and len(found) >= 4 + (size := struct.unpack("=I", found[:4])[0]):
            seen.append(json.loads(found[4 : 4 + size]))
            found = found[4 + size :]
    assert seen[0]["submissionId"] == submission
    os.close(closed_descriptors.pop(0))
    assert process.wait(2) == 0


def _op(name: str, **members: object) -> tuple[str, bytes]:
    submission = str(uuid.uuid4())
    return submission, json.dumps({"type": name, "submissionId": submission, **members}).encode()


def _peak(host: HostClient) -> int:
    """Bytes of memory at the most, from the kernel."""
    with open(f"/proc/{host.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def test_more_than_may_wait_is_taken_in_turn(store: Store) -> None:
    """Memory stays bounded: ops beyond what may wait stay in the pipe, and each is answered in the end."""
    host = store.open()
    before = _peak(host)
    value = "x" * 3_000_000
    sent = [_op("memory.set", key=str(number), value=value) for number in range(30)]
    for _, body in sent:
        host.write(frame(body))
    for submission, _ in sent:
        assert host.answer(submission, timeout=60)["type"] == "command.ack"
    assert _peak(host) - before < 120 * 1024 * 1024
