"""Where things lie below `<state>/sessions`, and how files there are named (second document, layout on disk)."""

import os
import re

from sidekeep.model.errors import InvalidCommand
from sidekeep.model.ids import is_uuid
from sidekeep.model.places import private_folder

DEFAULT_PROJECT = "default"
PER_FOLDER = 100
_NAME_CHARS = 100
#: Separators, control characters, and what Windows does not take in a name.
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_DEVICES = re.compile(r"^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$", re.IGNORECASE)


class Layout:
    """The paths of one sessions folder; making the object touches nothing."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.index = os.path.join(root, "index.json")
        self.locations = os.path.join(root, "locations.json")
        self.projects = os.path.join(root, "projects")
        self.deleted = os.path.join(root, ".deleted")
        self.locks = os.path.join(root, ".locks")
        self.session_locks = os.path.join(root, ".session-locks")

    def make(self) -> "Layout":
        """The folders that every writer needs; raises FileNotFoundError where the state folder itself is gone."""
        os.stat(os.path.dirname(self.root))  # or it would be made again beside a store that was moved away
        for folder in (self.root, self.deleted, self.locks, self.session_locks):
            private_folder(folder)
        return self

    def usual(self, session_id: str, project_id: str | None) -> str:
        """Where a session's repository lies unless `locations.json` says otherwise, relative to the root."""
        if not is_uuid(session_id):
            raise InvalidCommand("sessionId: is no id of a session.")
        if project_id is None or project_id == DEFAULT_PROJECT or not is_uuid(project_id):
            return session_id
        return f"projects/{project_id}/{session_id}"

    def path(self, relative: str) -> str:
        return os.path.join(self.root, *relative.split("/"))


def node_name(store: str, n: int, node_id: str) -> str:
    """The file of a node: a hundred of them share a folder, so that a commit writes short trees."""
    return f"history/{store}/{n // PER_FOLDER:04d}/{n:06d}-{node_id}.json"


def turn_name(store: str, n: int, turn_id: str) -> str:
    """The record of a turn."""
    return f"context/{store}/{n // PER_FOLDER:04d}/{n:06d}-{safe_name(turn_id)}.json"


def upload_name(attachment_id: str, name: str) -> str:
    """The copy of an upload."""
    return f"workdir/attachments/{attachment_id}/{safe_name(name) or 'file'}"


def safe_name(name: str) -> str:
    """A file name for every system: no separators, no device names, no leading dot, at most 100 characters."""
    plain = _NOT_IN_NAMES.sub("_", name).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if len(plain) > _NAME_CHARS:
        kept = ending[:16] if dot else ""
        plain = (stem or plain)[: _NAME_CHARS - 17] + (f".{kept}" if kept else "")
    return f"_{plain}" if _DEVICES.match(plain.split(".")[0].strip()) else plain
