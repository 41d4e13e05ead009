"""Events longer than a frame may be, cut into `part` frames."""

from sidekeep.model.ids import new_id
from sidekeep.model.limits import EVENT_BYTES

# {"type":"part","id":"…36…","index":…,"count":…,"data":"…"} with two numbers of at most 10 digits.
_ENVELOPE = 112
_LEAST_ROOM = 16  # below, a character and its escape might not fit
# The characters of JSON text that grow when they stand inside a JSON string: both quotes' kin, and
# the white space that may stand between its tokens. Other control characters cannot occur in it.
_ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"))


def split(message: bytes, limit: int = EVENT_BYTES) -> list[bytes]:
    """A message's JSON text as `part` messages of at most `limit` bytes each, as they go on the wire."""
    room = limit - _ENVELOPE
    if room < _LEAST_ROOM:
        raise ValueError(f"parts of {limit} bytes have no room for data")
    slices = _slices(message, room)
    name = new_id()
    return [
        b'{"type":"part","id":"%b","index":%d,"count":%d,"data":"%b"}'
        % (name.encode(), index, len(slices), _escaped(piece))
        for index, piece in enumerate(slices)
    ]


def _slices(message: bytes, room: int) -> list[bytes]:
    found = []
    start = 0
    while start < len(message):
        end = _border(message, min(start + room, len(message)))
        piece = message[start:end]
        while (size := len(piece) + _growth(piece)) > room:
            # In proportion, and a little less, so that it ends after few turns.
            end = _border(message, start + max(1, len(piece) * room // size - 1))
            piece = message[start:end]
        found.append(piece)
        start = end
    return found


def _border(message: bytes, end: int) -> int:
    """The border of a character at or before `end`: no character, no surrogate pair is cut."""
    while end < len(message) and message[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _growth(piece: bytes) -> int:
    return sum(piece.count(plain) for plain, _ in _ESCAPES)


def _escaped(piece: bytes) -> bytes:
    for plain, escape in _ESCAPES:
        piece = piece.replace(plain, escape)
    return piece
