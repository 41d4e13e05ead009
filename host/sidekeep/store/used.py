"""When bytes were last read: noted in memory, written with the next commit of the process."""

from sidekeep.store import blobs
from sidekeep.store.tx import Tx

# Of this process: digest → time in milliseconds. Reads stay reads; what is lost with the process is a minute of it.
_notes: dict[str, int] = {}


def note(sha256: str, now: int) -> None:
    _notes[sha256] = now


def pending() -> bool:
    return bool(_notes)


def write(tx: Tx) -> None:
    """Write the notes; `forget` them once the transaction is on disk."""
    for sha256, when in _notes.items():
        tx.run(blobs.sql.note_use, (sha256, when))


def forget() -> None:
    _notes.clear()
