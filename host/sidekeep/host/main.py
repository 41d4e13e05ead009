"""Starts the host: takes the port, checks the origin, answers `initialize`, and only then imports the rest."""

import os
import sys

from sidekeep.commands.catalog import CAPABILITIES
from sidekeep.wire.stdio import FrameReader, FrameWriter, leave_when_hung_up, take_port

FORBIDDEN = 3
# The browser kills two seconds after it closed the pipes; whatever happens, the host is gone well before.
HUNG_UP_SECONDS = 0.6


def main() -> int:
    """The native host; any arguments that a browser passes are accepted. Returns the exit status."""
    source, sink = take_port()
    os.umask(0o077)
    from sidekeep import __version__
    from sidekeep.model.errors import ForbiddenOrigin, PeerGone, WireError
    from sidekeep.model.ids import new_id
    from sidekeep.model.places import Places
    from sidekeep.wire import origins
    from sidekeep.wire.answers import error_event
    from sidekeep.wire.handshake import first_answer

    places = Places()
    reader, writer = FrameReader(source), FrameWriter(sink)
    origin = origins.accepted(sys.argv[1:], places)
    try:
        if origin is None:
            text = (
                "No argument is an extension that Sidekeep accepts. A browser starts this program; "
                "`sidekeep install --extension-id ID` adds an extension."
            )
            writer.write(error_event(ForbiddenOrigin(text)))
            os.write(2, f"sidekeep-host: {text}\n".encode())
            return FORBIDDEN
        about: dict[str, object] = {"version": __version__, "pid": os.getpid(), "instanceId": new_id()}
        capabilities = list(CAPABILITIES)
        answered = 0
        while True:
            message = reader.read()
            if message is None:
                return 0
            if answered == 1:  # the pipe takes the first answer; one that nobody reads may fill it
                leave_when_hung_up(source, HUNG_UP_SECONDS)
            answered += 1
            if isinstance(message, WireError):
                writer.write(error_event(message))
                continue
            first = first_answer(message, about, capabilities)
            writer.write(first.answer)
            if first.fatal:
                return 0
            if first.ok:
                break
    except PeerGone:
        return 0
    if answered == 1:
        leave_when_hung_up(source, HUNG_UP_SECONDS)
    from sidekeep.host.serve import serve

    return serve(places, reader, writer, about, origin, first.client_id, first.subscribe_thread_id)


if __name__ == "__main__":
    sys.exit(main())
