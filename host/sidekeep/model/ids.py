"""The one place that makes ids: UUID version 7 as lower-case text, rising within a process."""

from _collections_abc import Callable  # collections.abc, without the import of collections
from _thread import allocate_lock
from os import urandom

from sidekeep.model.clock import now_ms

_TAIL_BITS = 74
_STEP_BYTES = 4
_STEPS = 64  # of entropy asked for at once: each asking is a call of the system
_DASHES = "----"
_NO_HEX = dict.fromkeys(map(ord, "0123456789abcdef"))


class IdSource:
    """Makes ids from a clock and entropy; both can be given, so that tests can hold them still.

    The 74 bits beside the time are a random number that grows by a random step within one
    millisecond: ids stay hard to guess, and rise even when the clock stands or goes back
    (rising ids save pages in every index that holds them).
    """

    def __init__(self, clock: Callable[[], int] = now_ms, entropy: Callable[[int], bytes] = urandom) -> None:
        self._clock = clock
        self._entropy = entropy
        self._lock = allocate_lock()
        self._ms = 0
        self._tail = 0
        self._steps = b""

    def _step(self) -> int:
        if not self._steps:
            self._steps = self._entropy(_STEP_BYTES * _STEPS)
        step, self._steps = self._steps[:_STEP_BYTES], self._steps[_STEP_BYTES:]
        return 1 + int.from_bytes(step, "big")

    def _seed(self) -> int:
        # One bit stays free so that the steps of a millisecond do not run over.
        return int.from_bytes(self._entropy(10), "big") >> (80 - _TAIL_BITS + 1)

    def __call__(self) -> str:
        """A new id, greater than every one this source made before."""
        with self._lock:
            ms = self._clock()
            if ms > self._ms:
                self._ms, self._tail = ms, self._seed()
            else:
                self._tail += self._step()
                if self._tail >> _TAIL_BITS:
                    self._ms, self._tail = self._ms + 1, self._seed()
            ms, tail = self._ms, self._tail
        # 48 bits of time, version 7, 12 bits, variant 0b10, 62 bits (RFC 9562).
        value = (ms << 80) | (0x7 << 76) | ((tail >> 62) << 64) | (0b10 << 62) | (tail & ((1 << 62) - 1))
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


new_id = IdSource()


def is_uuid(text: object) -> bool:
    """Whether this is a UUID of any version in its lower-case text form."""
    return (
        type(text) is str
        and len(text) == 36
        and text[8] == text[13] == text[18] == text[23] == "-"
        and text.translate(_NO_HEX) == _DASHES
    )
