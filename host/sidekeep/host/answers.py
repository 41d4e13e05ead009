"""The frames that answer an op."""

import msgspec

from sidekeep.host.request import Request
from sidekeep.model.errors import SidekeepError

_encode = msgspec.json.encode


def with_client(request: Request, answer: str) -> bytes:
    """A terminal answer as its receipt holds it; an op with a `clientId` of its own gets that back."""
    if request.own_client is None:
        return answer.encode()
    return answer[:-1].encode() + b',"clientId":' + _encode(request.own_client) + b"}"


def refused(request: Request, error: SidekeepError) -> bytes:
    """`command.rejected` for an op that named itself, `error` for anything else."""
    body: dict[str, object] = {"code": error.code, "message": error.message, "retryable": error.retryable}
    if request.submission_id is None:
        return _encode({"type": "error", **body})
    answer = {"type": "command.rejected", "submissionId": request.submission_id, **body, **error.extra}
    if request.own_client is not None:
        answer["clientId"] = request.own_client
    return _encode(answer)


def result(request: Request, data: object) -> bytes:
    answer = {"type": "result", "submissionId": request.submission_id, "data": data}
    if request.own_client is not None:
        answer["clientId"] = request.own_client
    return _encode(answer)


def pong(request: Request) -> bytes:
    answer = {"type": "pong", "submissionId": request.submission_id}
    if request.own_client is not None:
        answer["clientId"] = request.own_client
    return _encode(answer)
