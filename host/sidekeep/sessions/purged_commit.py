"""The commit that is all that stays of a conversation on a remote after it was removed for good."""

from typing import Any

import msgspec

from sidekeep.model.clock import now_ms
from sidekeep.sessions.commit import commit_text
from sidekeep.sessions.objects import Objects
from sidekeep.sessions.reading import PURGED


def is_one(repository: Any, commit: str) -> bool:
    """Whether a commit says that its conversation was removed."""
    return PURGED in repository[commit].tree


def make(folder: str, parent: str) -> str:
    """Such a commit over `parent`, in the repository of a folder."""
    objects = Objects(folder)
    at = now_ms()
    blob = objects.put("blob", msgspec.json.encode({"purgedAt": at / 1000}) + b"\n")
    tree = objects.put("tree", b"100644 %s\0%s" % (PURGED.encode(), bytes.fromhex(blob)))
    made = objects.put("commit", commit_text(tree, parent, at // 1000, "Removed for good\n"))
    objects.write()
    return made
