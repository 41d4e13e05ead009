"""Room that is kept on the disk for deletions: a full disk must still take what frees it."""

import os
from contextlib import suppress

from sidekeep.model.limits import MIB
from sidekeep.model.places import Places, private_file
from sidekeep.store.room import figures

#: What a full log may need in the database before anything can be written again, and as much as deletions need.
RESERVE_BYTES = 18 * MIB
_PIECE = bytes(128 * 1024)


def keep(places: Places) -> None:
    """Make the reserve where there is none and the disk has room for twice as much; a disk that refuses is left so."""
    try:
        if os.path.exists(places.reserve) or figures(places)[2] < 2 * RESERVE_BYTES:
            return
        file = private_file(places.reserve, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except OSError:
        return
    try:
        # Allocated and not only given a length: a file with holes takes no room.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, RESERVE_BYTES)
        else:
            for _ in range(RESERVE_BYTES // len(_PIECE)):
                os.write(file, _PIECE)
    except OSError:
        let_go(places)
    finally:
        os.close(file)


def let_go(places: Places) -> bool:
    """Give its room back to the disk; whether there was any."""
    with suppress(OSError):
        os.unlink(places.reserve)
        return True
    return False
