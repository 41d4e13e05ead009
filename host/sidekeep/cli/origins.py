"""`sidekeep origins`: the extension origins that the host accepts, one a line."""

from sidekeep.cli.options import Json, State, places
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.wire.origins import origins as accepted


def origins(*, state: State = None, json: Json = False) -> int:
    """Print the extension origins that the host accepts, one a line."""
    found = accepted(places(state))
    if json:
        emit({"origins": found})
    else:
        for origin in found:
            say(origin)
    return Status.DONE
