"""The native-messaging manifest: building one, and saying what is wrong with one, as a Chromium browser judges it."""

import re
from collections.abc import Iterable
from pathlib import PurePath

import msgspec

from sidekeep.model.errors import InvalidCommand

HOST_NAME = "dev.sidekeep.host"
FILE_NAME = HOST_NAME + ".json"
DESCRIPTION = "Sidekeep keeps what you say and read in the side panel"

_EXTENSION_ID = re.compile(r"[a-p]{32}")
_ORIGIN = re.compile(r"chrome-extension://[a-p]{32}/")
_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")


def checked_id(extension_id: str) -> str:
    """The id as given, or out of an origin.

    Raises InvalidCommand when it is none: one bad entry makes a browser ignore the whole manifest.
    """
    bare = extension_id.removeprefix("chrome-extension://").removesuffix("/")
    if not _EXTENSION_ID.fullmatch(bare):
        raise InvalidCommand(
            f"{extension_id!r} is no extension id: these are 32 letters from a to p, as chrome://extensions shows."
        )
    return bare


def origin(extension_id: str) -> str:
    """The origin that a browser passes to the host; the last slash belongs to it."""
    return f"chrome-extension://{checked_id(extension_id)}/"


def build(launcher: PurePath, extension_ids: Iterable[str]) -> bytes:
    """The manifest's bytes: strict JSON, UTF-8, no mark at its beginning.

    Raises InvalidCommand where the launcher's path cannot be written in JSON.
    """
    try:
        path = str(launcher).encode().decode()
    except UnicodeEncodeError:
        raise InvalidCommand(
            f"A manifest cannot name {str(launcher)!a}, which is not UTF-8: choose another folder with --state."
        ) from None
    told = {
        "name": HOST_NAME,
        "description": DESCRIPTION,
        "path": path,
        "type": "stdio",
        "allowed_origins": sorted(origin(extension_id) for extension_id in set(extension_ids)),
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def fault(data: bytes, file_name: str) -> str | None:
    """Why a browser ignores this manifest, in a sentence; None when it reads it."""
    try:
        found = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        return f"it is not JSON ({error})"
    if not isinstance(found, dict):
        return "it is no JSON object"
    name, origins = found.get("name"), found.get("allowed_origins")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "its name is no name of a native host"
    if name + ".json" != file_name:
        return f"its name is {name}, but the file is {file_name}"
    if not found.get("description"):
        return "it has no description"
    if found.get("type") != "stdio":
        return "its type is not stdio"
    if not isinstance(found.get("path"), str) or not found["path"]:
        return "it names no program"
    if not isinstance(origins, list) or not origins:
        return "it allows no extension"
    wrong = [entry for entry in origins if not isinstance(entry, str) or not _ORIGIN.fullmatch(entry)]
    return f"{wrong[0]!r} in allowed_origins makes it invalid" if wrong else None


def program(data: bytes) -> str | None:
    """The program that a manifest names; None when it cannot be told."""
    try:
        found = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return None
    path = found.get("path") if isinstance(found, dict) else None
    return path if isinstance(path, str) else None
