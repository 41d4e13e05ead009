"""Where the working thread writes: a closed port is remembered, not raised."""

from sidekeep.model.errors import PeerGone
from sidekeep.wire.stdio import FrameWriter


class Outlet:
    """Frames to the browser; after it has gone they are dropped: what was committed is on disk."""

    def __init__(self, writer: FrameWriter) -> None:
        self._writer = writer

    def send(self, frames: list[bytes]) -> None:
        try:
            self._writer.write(*frames)
        except PeerGone:
            return
