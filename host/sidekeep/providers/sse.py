"""Server-sent events out of bytes that come in any pieces, with a bound on what is held of one.

The bytes are made plain before `httpx_sse` reads them: line feeds only (it waits for the next piece after a
carriage return), UTF-8 whatever the answer claims, and at the end the empty line that some endpoints forget.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx
from httpx_sse import EventSource, ServerSentEvent

#: Bytes of one event; a picture in a delta is large, an endless line is a fault.
LARGEST_EVENT = 16 * 1024 * 1024


class TooLong(Exception):
    """An event went over the bound."""


async def events(pieces: AsyncIterator[bytes], largest: int = LARGEST_EVENT) -> AsyncGenerator[ServerSentEvent, None]:
    """The events that have data. Raises TooLong, and what `pieces` raises."""
    plain = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=_Plain(pieces, largest))
    async with aclosing(EventSource(plain).aiter_sse()) as found:
        async for event in found:
            if event.data:
                yield event


class _Plain(httpx.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes], largest: int) -> None:
        self._pieces = pieces
        self._largest = largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held, after_return, first = 0, False, True
        async for piece in self._pieces:
            data = piece.removeprefix(b"\xef\xbb\xbf") if first else piece
            first = False
            if after_return and data.startswith(b"\n"):
                data = data[1:]  # the second half of a line end that came in two pieces
            if not data:
                after_return = False
                continue
            after_return = data.endswith(b"\r")
            if b"\r" in data:
                data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            # A line end counts as an event's: what `httpx_sse` holds of one is at most a few lines more.
            end = data.rfind(b"\n")
            held = held + len(data) if end < 0 else len(data) - end
            if held > self._largest:
                raise TooLong
            yield data
        yield b"\n\n"
