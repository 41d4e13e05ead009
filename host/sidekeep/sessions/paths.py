"""Which paths of attachments may be read: the session's own, those of channels, and one exact old form.

Messages of other programs name the files that came with them by absolute paths. Allowed are files below
`<session's repository>/workdir/attachments` and `<state>/channels/<channel>/accounts/<account>/attachments`. A path of
the form `<project>/.openprogram/sessions/<id>/workdir/attachments/<relative>` means the same file of the session `<id>`
where its repository lies now, and only for that session. Nothing else is mapped anywhere (second document).
"""

import os
import re

from sidekeep.model.errors import ForbiddenPath
from sidekeep.model.ids import is_uuid
from sidekeep.model.places import Places
from sidekeep.sessions import registry
from sidekeep.sessions.layout import Layout
from sidekeep.store import inside

_LEGACY = re.compile(r"/\.(?:openprogram|sidekeep)/sessions/([^/]+)/workdir/attachments/(.+)", re.DOTALL)
_CHANNEL = re.compile(r"([^/]+)/accounts/([^/]+)/attachments/(.+)", re.DOTALL)
_LONGEST = 8192


def locate(places: Places, session_id: str, path: str) -> tuple[str, str]:
    """(root, path below it) of a file that this session may read. Raises ForbiddenPath, with nothing of it opened."""
    if not is_uuid(session_id) or not isinstance(path, str) or not 0 < len(path) <= _LONGEST or "\0" in path:
        raise _forbidden(path)
    parts = path.split("/")
    if not path.startswith("/") or any(part in ("", ".", "..") for part in parts[1:]) or "\\" in path:
        raise _forbidden(path)
    layout = Layout(places.sessions)
    relative = registry.locations(layout).get(session_id)
    own = None if relative is None else os.path.join(layout.path(relative), "workdir", "attachments")
    if own is not None and path.startswith(own + "/"):
        return own, _checked(path, path[len(own) + 1 :])
    channels = os.path.join(places.state, "channels")
    if path.startswith(channels + "/"):
        found = _CHANNEL.fullmatch(path[len(channels) + 1 :])
        if found is None:
            raise _forbidden(path)
        root = os.path.join(channels, found[1], "accounts", found[2], "attachments")
        _no_links(channels, (found[1], "accounts", found[2], "attachments"), path)
        return root, _checked(path, found[3])
    old = _LEGACY.search(path)
    if own is not None and old is not None and old[1] == session_id and len(_LEGACY.findall(path)) == 1:
        return own, _checked(path, old[2])
    raise _forbidden(path)


def read(places: Places, session_id: str, path: str) -> bytes | None:
    """The bytes of such a file, no link followed; None where there is none. Raises ForbiddenPath, TooLarge."""
    root, relative = locate(places, session_id, path)
    if not os.path.isdir(root):
        return None
    return inside.read(root, relative)


def _checked(path: str, relative: str) -> str:
    try:
        inside.parts_of(relative)
    except ForbiddenPath:
        raise _forbidden(path) from None
    return relative


def _no_links(root: str, parts: tuple[str, ...], path: str) -> None:
    at = root
    for part in parts:
        at = os.path.join(at, part)
        if os.path.islink(at) or part.startswith("."):
            raise _forbidden(path)


def _forbidden(path: object) -> ForbiddenPath:
    return ForbiddenPath(f"{str(path)[:200]!r} is no attachment of this conversation.")
