"""The first answer of a port: `initialize` read and checked by hand, before anything heavy is imported.

Importing the typed decoder costs three times what the whole first answer may take.
"""

from _json import make_scanner

from sidekeep.model.contract import PROTOCOL, SCHEMA_HASH
from sidekeep.model.errors import InvalidCommand, InvalidFrame, NotInitialized, SidekeepError
from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import (
    CHUNK_BYTES,
    MESSAGE_BYTES,
    NAME_CHARACTERS,
    QUEUE,
    SNAPSHOT_NODES,
    UPLOAD_BYTES,
    WAITING_OPS,
)
from sidekeep.wire.answers import dump, refusal

LIMITS = {
    "messageBytes": MESSAGE_BYTES,
    "uploadBytes": UPLOAD_BYTES,
    "chunkBytes": CHUNK_BYTES,
    "snapshotNodes": SNAPSHOT_NODES,
    "queue": QUEUE,
    "waitingOps": WAITING_OPS,
}
_MEMBERS = ("type", "submissionId", "clientId", "protocol", "schemaHash", "subscribe")
_WHITE = " \t\n\r"


class Handshake:
    """What came of a first message: the answer to send, and whether the port is open now."""

    __slots__ = ("answer", "client_id", "fatal", "ok", "subscribe_thread_id")

    def __init__(
        self,
        answer: bytes,
        *,
        ok: bool = False,
        fatal: bool = False,
        client_id: str = "",
        subscribe_thread_id: str | None = None,
    ) -> None:
        self.answer = answer
        self.ok = ok
        self.fatal = fatal  # send the answer, then close the output
        self.client_id = client_id
        self.subscribe_thread_id = subscribe_thread_id


def first_answer(raw: bytes, host: dict[str, object], capabilities: list[str]) -> Handshake:
    """The answer to a message that comes before the port is initialized.

    `host` is `{"version", "pid", "instanceId"}`. Until `ok`, every message is to be given to this.
    """
    try:
        op = _object(raw)
        submission = _name(op)
    except SidekeepError as fault:
        return Handshake(refusal(fault))
    try:
        if op["type"] != "initialize":
            raise NotInitialized("the first op of a port is `initialize`")
        spoken = op.get("protocol")
        # Before anything else is judged: another protocol may well have other members.
        if type(spoken) is str and spoken != PROTOCOL:
            return Handshake(_other_protocol(submission, spoken, host), fatal=True)
        thread = _check(op)
    except SidekeepError as fault:
        client = op.get("clientId")
        fault.submission_id = submission
        # An initialize gives the port its client; only other ops have their own, which is repeated.
        if op["type"] != "initialize" and type(client) is str:
            fault.client_id = _well_formed(client)
        return Handshake(refusal(fault))
    answer = {
        "type": "initialized",
        "submissionId": submission,
        "protocol": PROTOCOL,
        "schemaHash": SCHEMA_HASH,
        "host": host,
        "limits": LIMITS,
        "capabilities": capabilities,
    }
    client_id = _well_formed(str(op["clientId"]))
    return Handshake(dump(answer).encode(), ok=True, client_id=client_id, subscribe_thread_id=thread)


def _other_protocol(submission: str, spoken: str, host: dict[str, object]) -> bytes:
    answer = {
        "type": "fatal.reload_required",
        "submissionId": submission,
        "protocol": PROTOCOL,
        "clientProtocol": _well_formed(spoken),
        "host": host,
        "message": f"This host speaks {PROTOCOL}. Reload the extension, or update the older of the two.",
    }
    return dump(answer).encode()


class _Plain:
    """How the interpreter's own JSON scanner is told to read (the json module costs 12 ms)."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float

    @staticmethod
    def parse_int(text: str) -> int:
        # No member here is a number; int() would refuse thousands of digits as if they were no JSON.
        return int(text[:20])

    @staticmethod
    def parse_constant(text: str) -> None:
        raise ValueError(text)


_scan = make_scanner(_Plain)  # type: ignore[arg-type]  # it reads these attributes of anything


def _object(raw: bytes) -> dict[str, object]:
    try:
        text = raw.decode().strip(_WHITE)
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError):
        raise InvalidFrame("a message is one JSON object in UTF-8") from None
    if type(value) is not dict or end != len(text):
        raise InvalidFrame("a message is one JSON object in UTF-8")
    return value


def _name(op: dict[str, object]) -> str:
    if type(op.get("type")) is not str:
        raise InvalidCommand("an op needs a `type` that names it")
    submission = op.get("submissionId")
    if type(submission) is not str or not is_uuid(submission):
        raise InvalidCommand("an op needs a `submissionId` that is a lower-case UUID")
    return submission


def _check(op: dict[str, object]) -> str | None:
    """The thread to subscribe to, if any. Raises InvalidCommand, which names the member."""
    for member in op:
        if member not in _MEMBERS:
            raise InvalidCommand(f"Object contains unknown field `{_well_formed(member)[:100]}`")
    for member, longest in (("protocol", 100), ("schemaHash", 64), ("clientId", NAME_CHARACTERS)):
        value = op.get(member)
        if type(value) is not str or not 0 < len(value) <= longest:
            raise InvalidCommand(f"Expected a `str` of 1 to {longest} characters - at `$.{member}`")
    if "subscribe" not in op:
        return None
    wanted = op["subscribe"]
    if type(wanted) is not dict or list(wanted) != ["threadId"] or not is_uuid(wanted["threadId"]):
        raise InvalidCommand("Expected `{threadId}`, a lower-case UUID - at `$.subscribe`")
    return str(wanted["threadId"])


def _well_formed(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
