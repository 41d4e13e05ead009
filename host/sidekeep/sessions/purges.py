"""The end of a repository: an intent on disk first, so that a death in the middle is gone on with."""

import os
import shutil

from sidekeep.model.places import private_file
from sidekeep.sessions import locks, registry
from sidekeep.sessions.layout import Layout


def remove(layout: Layout, session_id: str) -> None:
    """Remove a session's repository and its file recovery; may be repeated after a death at any point."""
    with locks.session(layout, session_id):
        intent = os.path.join(layout.deleted, f"{session_id}.json")
        os.close(private_file(intent, os.O_WRONLY | os.O_CREAT))
        _remove_folders(layout, session_id)
        registry.place(layout, session_id, None)
        os.unlink(intent)
    _unlink(os.path.join(layout.session_locks, session_id))


def _remove_folders(layout: Layout, session_id: str) -> None:
    """Out of sight by one rename each, then away piece by piece."""
    relative = registry.locations(layout).get(session_id)
    places = {relative, session_id} - {None}
    for place in places:
        path = layout.path(str(place))
        beside = os.path.join(os.path.dirname(path), ".file-recovery", session_id)
        for number, folder in enumerate((path, beside)):
            grave = os.path.join(layout.deleted, f"{session_id}.{number}")
            shutil.rmtree(grave, ignore_errors=True)
            if os.path.isdir(folder):
                os.rename(folder, grave)
            shutil.rmtree(grave, ignore_errors=True)


def resume(layout: Layout) -> int:
    """Go on with removals that a death interrupted; how many."""
    if not os.path.isdir(layout.deleted):
        return 0
    intents = [name.removesuffix(".json") for name in os.listdir(layout.deleted) if name.endswith(".json")]
    for session_id in intents:
        remove(layout, session_id)
    return len(intents)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
