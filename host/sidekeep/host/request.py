"""One op on its way through the host: decoded once, by the thread that reads."""

from typing import Any

from sidekeep.commands.catalog import COMMANDS, QUERIES
from sidekeep.model.decode import decode_op
from sidekeep.model.digests import fingerprint
from sidekeep.model.errors import SidekeepError
from sidekeep.model.limits import NAME_CHARACTERS

COMMAND, QUERY, PORT, FAULT = range(4)


class Request:
    """An op, or what is wrong with the bytes that came in its place (`error`)."""

    __slots__ = ("client_id", "error", "fingerprint", "kind", "name", "op", "own_client", "plain", "size",
                 "submission_id", "thread_id")  # fmt: skip

    def __init__(self, raw: bytes, default_client: str) -> None:
        self.error: SidekeepError | None = None
        self.op: Any = None
        self.plain: dict[str, Any] = {}
        self.kind = FAULT
        self.name = ""
        self.fingerprint = ""
        self.submission_id: str | None = None
        self.own_client: str | None = None
        self.client_id = default_client
        self.thread_id: str | None = None
        self.size = len(raw)
        try:
            self.op, self.plain = decode_op(raw)
        except SidekeepError as error:
            self.error = error
            self.submission_id = error.submission_id
            self.own_client = error.client_id
            self._name_what_was_refused(error.op or {})
            return
        plain = self.plain
        self.name = plain["type"]
        self.submission_id = plain["submissionId"]
        self.own_client = plain.get("clientId")
        if self.own_client is not None:
            self.client_id = self.own_client
        self.thread_id = plain.get("threadId")
        if self.name in COMMANDS:
            self.kind = COMMAND
            self.fingerprint = fingerprint(plain)
        else:
            self.kind = QUERY if self.name in QUERIES else PORT

    def _name_what_was_refused(self, plain: dict[str, Any]) -> None:
        """A command of the wrong shape is still a command where its names are whole: its refusal is kept for it."""
        name, client = plain.get("type"), plain.get("clientId", self.client_id)
        if name not in COMMANDS or type(client) is not str or not 0 < len(client) <= NAME_CHARACTERS:
            return
        try:
            self.fingerprint = fingerprint(plain)
        except SidekeepError:
            return
        self.kind, self.name, self.plain, self.client_id = COMMAND, str(name), plain, client

    @classmethod
    def fault(cls, error: SidekeepError) -> "Request":
        """A frame that holds no op."""
        request = cls.__new__(cls)
        request.error = error
        request.op, request.plain, request.kind, request.name = None, {}, FAULT, ""
        request.fingerprint, request.submission_id, request.own_client = "", None, None
        request.client_id, request.thread_id, request.size = "", None, 0
        return request
