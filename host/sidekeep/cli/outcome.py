"""How a command ends: its exit status, its one sentence, or its one JSON document."""

import json
import os
import re
import sys
import traceback
from enum import IntEnum

from sidekeep.model.errors import SidekeepError

# C0 but tab and line feed, DEL, C1, and what turns the direction of writing (for one line: breaks too).
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_COMMANDS_AND_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Status(IntEnum):
    """The exit statuses of all commands."""

    DONE = 0
    NOT_SO = 1  # a check failed, nothing found to restore, a fault of our own
    USAGE = 2
    REFUSED = 3  # origin, permission, locked
    STORE = 4  # the store is damaged or newer than the program


_BY_CODE = {
    "invalid_command": Status.USAGE,
    "forbidden_origin": Status.REFUSED,
    "forbidden_path": Status.REFUSED,
    "needs_permission": Status.REFUSED,
    "conflict": Status.REFUSED,
    "vault_locked": Status.REFUSED,
    "storage_corrupt": Status.STORE,
    "store_newer": Status.STORE,
}


def status_of(error: SidekeepError) -> Status:
    return _BY_CODE.get(error.code, Status.NOT_SO)


def emit(document: object) -> None:
    """Writes the one JSON document of a command with `--json`; bytes of a path that are no text become `?`."""
    import msgspec

    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = json.dumps(document, ensure_ascii=False).encode(errors="replace")
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def say(text: str) -> None:
    """A line for people."""
    sys.stdout.write(text.encode(errors="replace").decode() + "\n")


def printable(text: str, *, one_line: bool = False) -> str:
    """Text from a page or a model without what would command a terminal: control and direction characters."""
    return (_COMMANDS_AND_BREAKS if one_line else _COMMANDS).sub("\N{REPLACEMENT CHARACTER}", text)


def heading(text: str) -> str:
    """Bold on a terminal, plain elsewhere."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain else f"\x1b[1m{text}\x1b[0m"


def fail(status: int, code: str, sentence: str, *, as_json: bool) -> int:
    """Says what went wrong: a sentence on stderr, with `--json` a document on stdout."""
    if as_json:
        emit({"error": {"code": code, "message": sentence}})
    else:
        sys.stderr.write(sentence + "\n")
    return status


def log_fault(error: Exception, state: str | None = None) -> str:
    """Keeps the traceback of a fault of our own in the store's log; returns the sentence that says where."""
    text = "".join(traceback.format_exception(error))
    if os.environ.get("SIDEKEEP_LOG") == "debug":
        sys.stderr.write(text)
    from sidekeep.model.places import Places, private_file, private_folder

    folder = Places(state).logs
    path = os.path.join(folder, "cli.log")
    try:
        private_folder(folder)
        with os.fdopen(private_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "w") as log:
            log.write(text)
    except OSError:
        return f"A fault of sidekeep's own: {error!r}; SIDEKEEP_LOG=debug shows where."
    return f"A fault of sidekeep's own: {type(error).__name__}; the details are in {path}."
