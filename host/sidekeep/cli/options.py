"""The options that every command has, and the state folder that they lead to."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sidekeep.model.errors import InvalidCommand
from sidekeep.model.places import Places, home, state_dir

State = Annotated[
    Path | None, Parameter(name="--state", help="The state folder; otherwise SIDEKEEP_STATE or the usual one.")
]
Json = Annotated[bool, Parameter(name="--json", negative="", help="One JSON document on stdout, nothing else.")]
Flag = Parameter(negative="")


def places(state: Path | None) -> Places:
    """The places of the store that was named, or of the usual one. Raises InvalidCommand for what is no folder."""
    found = Places(str(state.expanduser()) if state else None)
    if os.path.exists(found.state) and not os.path.isdir(found.state):
        raise InvalidCommand(f"{shown(found.state)} is no folder; name the store's with --state or SIDEKEEP_STATE.")
    return found


def must_be_told(state: str) -> bool:
    """Whether a host that a browser starts with an empty environment would look for another state folder."""
    kept = {name: os.environ.pop(name) for name in ("SIDEKEEP_STATE", "XDG_DATA_HOME", "HOME") if name in os.environ}
    try:
        return os.path.realpath(state_dir()) != os.path.realpath(state)
    finally:
        os.environ.update(kept)


def shown(path: str | Path) -> str:
    """A path for people: the home folder as ~."""
    text, user = str(path), home()
    return "~" + text[len(user) :] if text.startswith(user + os.sep) else text
