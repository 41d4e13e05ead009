"""The receipt of an installation: each write with its SHA-256, so that exactly these can be taken away again."""

from pathlib import Path
from typing import Literal

import msgspec

from sidekeep.install import files
from sidekeep.model.errors import InvalidCommand

FILE_NAME = "install.json"

Role = Literal["manifest", "launcher", "entry"]


class FolderMade(msgspec.Struct, tag="folder", frozen=True):
    """A folder that was not there before."""

    path: str


class FileWritten(msgspec.Struct, tag="file", frozen=True):
    """A file of ours; `browsers` are those that it serves (empty: all of them)."""

    path: str
    sha256: str
    role: Role
    browsers: tuple[str, ...] = ()


class KeyMade(msgspec.Struct, tag="key", frozen=True):
    """A registry key that was not there before and holds no value of ours."""

    hive: str
    key: str


class KeySet(msgspec.Struct, tag="value", frozen=True):
    """A registry key with our default value."""

    hive: str
    key: str
    value: str
    browsers: tuple[str, ...] = ()


class OriginAdded(msgspec.Struct, tag="origin", frozen=True):
    """An extension id that was added to the origins file."""

    extension_id: str


Written = FolderMade | FileWritten | KeyMade | KeySet | OriginAdded


class Receipt(msgspec.Struct):
    """What was written, in the order of writing."""

    writes: list[Written] = []
    version: Literal[1] = 1

    def files(self, role: Role) -> list[FileWritten]:
        return [entry for entry in self.writes if isinstance(entry, FileWritten) and entry.role == role]

    def values(self) -> list[KeySet]:
        return [entry for entry in self.writes if isinstance(entry, KeySet)]

    def note(self, entry: Written) -> None:
        """Adds an entry in the place of an earlier one about the same thing."""
        same = [n for n, earlier in enumerate(self.writes) if _subject(earlier) == _subject(entry)]
        if same:
            self.writes[same[0]] = entry
        else:
            self.writes.append(entry)

    def hash_of(self, path: Path) -> str | None:
        """The hash that was recorded for a file."""
        for entry in self.writes:
            if isinstance(entry, FileWritten) and entry.path == str(path):
                return entry.sha256
        return None


def _subject(entry: Written) -> tuple[str, ...]:
    match entry:
        case FolderMade(path=path):
            return ("folder", path)
        case FileWritten(path=path):
            return ("file", path)
        case OriginAdded(extension_id=extension_id):
            return ("origin", extension_id)
        case KeyMade(hive=hive, key=key) | KeySet(hive=hive, key=key):
            return (type(entry).__name__, hive, key)


def load(folder: Path) -> Receipt:
    """The receipt in this folder, an empty one where there is none.

    Raises InvalidCommand for one that cannot be read: guessing what was ours would remove what is not.
    """
    path = folder / FILE_NAME
    data = files.read(path)
    if data is None:
        return Receipt()
    try:
        return msgspec.json.decode(data, type=Receipt)
    except msgspec.MsgspecError as error:
        raise InvalidCommand(f"The installation's receipt {path} cannot be read ({error}); move it away.") from None


def save(folder: Path, receipt: Receipt) -> None:
    """Writes the receipt, or removes the file when nothing of ours is left."""
    path = folder / FILE_NAME
    if receipt.writes:
        files.put(path, msgspec.json.format(msgspec.json.encode(receipt), indent=2) + b"\n", 0o600)
    else:
        path.unlink(missing_ok=True)
