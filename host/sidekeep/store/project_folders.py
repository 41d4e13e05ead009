"""The folder of a project on the disk: whether it is there, and by what it is known again after it was moved.

The mark is no file: it changes nothing that the user's own Git would see. Where the system has extended attributes it
is one on the folder, which a move takes along, also to another disk; else it is the folder's number and the time of its
making, which stay the same on one disk. A copy may carry the mark too: what decides is whether the old path is gone.
"""

import os

from sidekeep.model.errors import InvalidCommand

_ATTRIBUTE = "user.sidekeep.project"
_LONGEST = 200


def resolved(path: str) -> str:
    """The folder's path without links. Raises InvalidCommand for what is no folder that can be read."""
    if "\0" in path or not os.path.isabs(path):
        raise InvalidCommand("path: is an absolute path.")
    found = os.path.realpath(path)
    try:
        found.encode("utf-8")
        with os.scandir(found):
            return found
    except UnicodeEncodeError:
        raise InvalidCommand("path: is not in UTF-8; rename the folder first.") from None
    except OSError as error:
        raise InvalidCommand(f"path: is no folder that can be read ({error.strerror}): {path}") from None


def exists(path: str) -> bool:
    return os.path.isdir(path)


def mark_of(path: str) -> str | None:
    """What the folder is known by; None where the system offers nothing, or nobody has marked it."""
    if hasattr(os, "getxattr"):
        try:
            found = os.getxattr(path, _ATTRIBUTE)
        except OSError:
            return None
        return found.decode("ascii", "replace") if len(found) <= _LONGEST else None
    try:
        about = os.stat(path)
    except OSError:
        return None
    made = getattr(about, "st_birthtime", None)
    return None if made is None else f"{about.st_ino}:{made}"


def mark(path: str, project_id: str) -> str | None:
    """Mark the folder as this project's; returns the mark, or None where that cannot be done."""
    if hasattr(os, "setxattr"):
        try:
            os.setxattr(path, _ATTRIBUTE, project_id.encode("ascii"))
        except OSError:
            return None
    return mark_of(path)
