"""The few messages that have to be written before, or without, everything that types the others."""

from _json import encode_basestring_ascii

from sidekeep.model.errors import SidekeepError


def dump(value: object) -> str:
    """JSON of what answers are made of, in ASCII, so that any text can be written."""
    if isinstance(value, str):
        return str(encode_basestring_ascii(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ",".join(f"{dump(str(key))}:{dump(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(dump, value)) + "]"
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def error_event(fault: SidekeepError) -> bytes:
    """`error`: a fault that belongs to no op."""
    return dump({"type": "error", "code": fault.code, "message": fault.message, "retryable": fault.retryable}).encode()


def rejected(submission_id: str, fault: SidekeepError, client_id: str | None = None) -> bytes:
    """`command.rejected`: nothing changed."""
    answer: dict[str, object] = {"type": "command.rejected", "submissionId": submission_id}
    if client_id is not None:
        answer["clientId"] = client_id
    answer |= {"code": fault.code, "message": fault.message, "retryable": fault.retryable}
    return dump(answer | fault.extra).encode()


def refusal(fault: SidekeepError) -> bytes:
    """`command.rejected` when the op had named itself, else `error`."""
    if fault.submission_id is None:
        return error_event(fault)
    return rejected(fault.submission_id, fault, fault.client_id)


def pong(submission_id: str, client_id: str | None = None) -> bytes:
    """`pong`: somebody is there."""
    answer = {"type": "pong", "submissionId": submission_id}
    if client_id is not None:
        answer["clientId"] = client_id
    return dump(answer).encode()
