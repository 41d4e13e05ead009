"""From the bytes of a frame to an op: one generic decode, normalised, then the typed conversion.

Text is any Unicode, so a lone surrogate becomes U+FFFD; numbers that a double cannot hold exactly
become strings. Both are rare: only a message that has one pays for it.
"""

import re
from typing import Any

import msgspec

from sidekeep.model import ops
from sidekeep.model.errors import InvalidCommand, InvalidFrame
from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import JSON_DEPTH, KIB, SAFE_INTEGER
from sidekeep.model.ops.base import Op
from sidekeep.model.payloads import UUID_PATTERN

_NOT_JSON = "a message is one JSON object in UTF-8"
_TOO_DEEP = f"a message is nested at most {JSON_DEPTH} levels deep"
_LARGE = 64 * KIB
_decode = msgspec.json.Decoder().decode
_DATA = re.compile(rb'"data"\s*:\s*"')


def decode_op(raw: bytes) -> tuple[Op, dict[str, Any]]:
    """The op, and the same as plain data (normalised; what its fingerprint is made of).

    Raises InvalidFrame for what is no JSON object, InvalidCommand for what is no op; the latter
    carries `submission_id` (and `client_id`) when the op named itself well enough to be answered.
    """
    if len(raw) > _LARGE and b'"attachment.chunk"' in raw:
        chunk = _large_chunk(raw)
        if chunk is not None:
            return chunk
    plain = decode_object(raw)
    return convert_op(plain), plain


def decode_object(raw: bytes) -> dict[str, Any]:
    """One JSON object, normalised. Raises InvalidFrame."""
    try:
        value = _decode(raw)
        fits = _fits(value, JSON_DEPTH)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        fits = False
    if not fits:
        value = _decode_carefully(raw)
    if type(value) is not dict:
        raise InvalidFrame(_NOT_JSON)
    return value


def convert_op(plain: dict[str, Any]) -> Op:
    """The typed op. Raises InvalidCommand, which names the member."""
    kind = plain.get("type")
    # By its own struct: msgspec keeps what it learns of a struct, of a union it learns anew each time.
    op = ops.named(kind) if type(kind) is str else None
    if op is None:
        raise _refusal(plain, "an op needs a `type` that names it")
    try:
        return msgspec.convert(plain, op)
    except msgspec.ValidationError as fault:
        raise _refusal(plain, str(fault)) from None


def _refusal(plain: dict[str, Any], message: str) -> InvalidCommand:
    """The refusal in words, with the op's name on it when it has one."""
    kind, submission = plain.get("type"), plain.get("submissionId")
    if type(kind) is str and ops.named(kind) is None:
        message = f"there is no op {kind[:100]!r}"
    message = message.replace(f"`str` matching regex '{UUID_PATTERN}'", "a lower-case UUID")
    refusal = InvalidCommand(message)
    if type(kind) is str and is_uuid(submission):
        refusal.submission_id = submission
        refusal.op = plain
        client = plain.get("clientId")
        if type(client) is str:
            refusal.client_id = client
    return refusal


def _large_chunk(raw: bytes) -> tuple[Op, dict[str, Any]] | None:
    """A large attachment.chunk, its base64 decoded in the same pass as the JSON; None: not one."""
    from sidekeep.model.ops.files import decode_chunk  # not before there is a chunk

    found = _DATA.search(raw)
    if found is None:
        return None
    end = raw.find(b'"', found.end())
    data = raw[found.end() : end]
    # An escape in the text, or a second `data`, is for the ordinary way.
    if b"\\" in data or _DATA.search(raw, end):
        return None
    try:
        chunk = decode_chunk(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if chunk.index > SAFE_INTEGER:
        return None
    plain: dict[str, Any] = {
        "type": "attachment.chunk",
        "submissionId": chunk.submission_id,
        "attachmentId": chunk.attachment_id,
        "index": chunk.index,
        "data": data.decode("ascii"),
    }
    if chunk.client_id is not msgspec.UNSET:
        plain["clientId"] = chunk.client_id
    return chunk, plain


def _fits(value: Any, depth: int) -> bool:
    """Whether every number is exact in a double and the nesting is within bounds."""
    kind = type(value)
    if kind is int or kind is float:
        # The first double beyond is 2^53; neither NaN nor infinity comes out of the decoders.
        return bool(-SAFE_INTEGER <= value <= SAFE_INTEGER)
    if kind is not dict and kind is not list:
        return True
    if not depth:
        raise InvalidFrame(_TOO_DEEP)
    for item in value.values() if kind is dict else value:
        if type(item) is not str and not _fits(item, depth - 1):
            return False
    return True


def _decode_carefully(raw: bytes) -> Any:
    """The same with the json module, which takes lone surrogates and shows numbers as written."""
    import json

    try:
        value = json.loads(raw.decode(), parse_int=_integer, parse_float=_double, parse_constant=_no_constant)
        _fits(value, JSON_DEPTH)
    except InvalidFrame:
        raise
    except RecursionError:
        raise InvalidFrame(_TOO_DEEP) from None
    except ValueError:
        raise InvalidFrame(_NOT_JSON) from None
    return _well_formed(value)


def _integer(text: str) -> int | str:
    # Longer than 17 characters cannot fit; int() itself refuses thousands of digits.
    if len(text) > 17:
        return text
    number = int(text)
    return number if -SAFE_INTEGER <= number <= SAFE_INTEGER else text


def _double(text: str) -> float | str:
    number = float(text)
    return number if -SAFE_INTEGER <= number <= SAFE_INTEGER else text


def _no_constant(text: str) -> None:
    raise InvalidFrame(f"{text} is not JSON")


def _well_formed(value: Any) -> Any:
    """U+FFFD for each lone surrogate, in keys as well."""
    kind = type(value)
    if kind is str:
        # Pairs that were escaped as two halves have been joined by the decoder already.
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if kind is list:
        return [_well_formed(item) for item in value]
    if kind is dict:
        return {_well_formed(key): _well_formed(item) for key, item in value.items()}
    return value
