"""The standard descriptors of a native host: taken away from everybody else, read and written as frames.

A frame is a 4-byte unsigned length in native byte order and so many bytes of JSON. Imported before
everything else, so it imports nothing heavy itself.
"""

import os
import sys
from _thread import allocate_lock, start_new_thread
from time import sleep

from sidekeep.model.errors import InvalidFrame, MessageTooLarge, PeerGone, WireError
from sidekeep.model.limits import EVENT_BYTES, MESSAGE_BYTES

_HEADER = 4
_READ = 64 * 1024  # what a pipe holds; more would be mapped and unmapped at each read


def take_port() -> tuple[int, int]:
    """Takes the port: descriptors of our own for the browser's pipe, (input, output).

    Afterwards descriptor 0 is empty and descriptor 1 is a second stderr, so that no print, library or
    child can read from or write to the browser. Call it before any other import can print.
    """
    for standard in (0, 1, 2):
        try:
            os.fstat(standard)
        except OSError:
            # Closed: fill the hole, or the next file that is opened would become stdin or stdout.
            os.open(os.devnull, os.O_RDWR)
    port = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "win32":
        import msvcrt  # after the shuffling: dup2 resets the mode

        for descriptor in (*port, 0, 1):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return port


def leave_when_hung_up(descriptor: int, seconds: float) -> None:
    """End the process `seconds` after the other end of its input was closed, whatever its threads do.

    Reading would tell only those who read: a process that waits for its output to be taken, or has enough ops
    in hand, does not. Where a pipe cannot be polled (Windows) the end is found by reading alone.
    """
    if sys.platform == "win32":
        return
    import select

    port = select.poll()
    port.register(descriptor, 0)  # nothing but the hang-up, which is always told

    def watch() -> None:
        port.poll()
        sleep(seconds)
        os._exit(0)

    start_new_thread(watch, ())


class FrameReader:
    """Whole frames from a descriptor, by blocking reads; for one thread."""

    def __init__(self, descriptor: int, limit: int = MESSAGE_BYTES) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._buffer = b""
        self._at = 0  # what lies before was given out already

    def read(self) -> bytes | WireError | None:
        """The next frame's bytes; an error to report, after which reading goes on; None at the end.

        An end inside a frame is an end. A frame over the limit is skipped, without holding it.
        """
        header = self._take(_HEADER)
        if header is None:
            return None
        size = int.from_bytes(header, sys.byteorder)
        if size == 0:
            return InvalidFrame("a frame of length 0")
        if size > self._limit:
            if not self._skip(size):
                return None
            return MessageTooLarge(f"a message of {size} bytes, where {self._limit} are taken")
        return self._take(size)

    def _take(self, count: int) -> bytes | None:
        start, end = self._at, self._at + count
        if len(self._buffer) >= end:
            self._at = end
            return self._buffer[start:end]
        pieces = [self._buffer[start:]]
        missing = end - len(self._buffer)
        while missing > 0:
            if not self._more():
                return None
            pieces.append(self._buffer[:missing])
            self._at = len(pieces[-1])
            missing -= self._at
        return b"".join(pieces)

    def _skip(self, count: int) -> bool:
        missing = self._at + count - len(self._buffer)
        while missing > 0:
            if not self._more():
                return False
            missing -= len(self._buffer)
        self._at = len(self._buffer) + missing
        return True

    def _more(self) -> bool:
        """Whether more bytes came (an input that broke has ended too); they replace the buffer."""
        self._at = 0
        while True:
            try:
                self._buffer = os.read(self._descriptor, _READ)
            except BlockingIOError:
                _wait(self._descriptor, writing=False)
            except OSError:
                self._buffer = b""
                return False
            else:
                return bool(self._buffer)


class FrameWriter:
    """Frames to a descriptor; any thread may write, frames never mix."""

    def __init__(self, descriptor: int, limit: int = EVENT_BYTES) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._lock = allocate_lock()
        self.gone = False

    def write(self, *messages: bytes) -> None:
        """Writes each message as a frame, one over the limit as parts; all in one go.

        Raises PeerGone when the other end is closed, now or before.
        """
        pieces: list[bytes] = []
        for message in messages:
            size = len(message)
            if size > self._limit:
                from sidekeep.wire.parts import split  # rare, and not before the first answer

                for part in split(message, self._limit):
                    pieces += (len(part).to_bytes(_HEADER, sys.byteorder), part)
            else:
                pieces += (size.to_bytes(_HEADER, sys.byteorder), message)
        with self._lock:
            self._write_all(b"".join(pieces))

    def _write_all(self, data: bytes) -> None:
        if self.gone:
            raise PeerGone("the port is closed")
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                _wait(self._descriptor, writing=True)
            except OSError as fault:
                # Whatever the reason, half a frame may be out: nothing after it could be read.
                self.gone = True
                raise PeerGone(f"the port is closed: {fault.strerror}") from None


def _wait(descriptor: int, *, writing: bool) -> None:
    """Until a descriptor that does not block by itself can go on."""
    import select

    wanted = [descriptor]
    select.select([] if writing else wanted, wanted if writing else [], [])
