"""Joins the packs of single commits, so that a session of many turns is a few files and as large as its content."""

import os

from sidekeep.sessions import gitdir
from sidekeep.sessions.objects import names_in

#: So many small packs are joined; one is small below this size, so that what is large is not written again.
SMALL_PACKS = 64
SMALL_BYTES = 1024 * 1024
_SCRATCH = "packing"


def tidy(folder: str, at_least: int = SMALL_PACKS) -> int:
    """Join the small packs when there are so many; how many went. The session's lock is held.

    A death leaves the small packs, the large one, or both: each object is always in one of them.
    """
    packs = os.path.join(folder, ".git", "objects", "pack")
    small = _small(packs)
    if len(small) < at_least:
        return 0
    pygit2 = gitdir.git()
    builder = pygit2.PackBuilder(gitdir.opened(folder))
    builder.set_threads(1)
    for stem in small:
        with open(f"{stem}.idx", "rb") as file:
            for name in names_in(file.read()):
                builder.add(pygit2.Oid(hex=name))
    gitdir.sweep(folder)
    scratch = os.path.join(folder, ".git", "sidekeep", _SCRATCH)
    os.makedirs(scratch, mode=0o700)
    builder.write(scratch)
    made = sorted(os.listdir(scratch), key=lambda name: name.endswith(".idx"))
    for name in made:  # the index comes last: a pack without one is not seen
        path = os.path.join(scratch, name)
        _to_disk(path)
        os.replace(path, os.path.join(packs, name))
    os.rmdir(scratch)
    for stem in small:
        if os.path.basename(f"{stem}.idx") not in made:
            os.unlink(f"{stem}.idx")
            os.unlink(f"{stem}.pack")
    _drop_unseen(packs)
    return len(small)


def _drop_unseen(packs: str) -> None:
    """A pack whose index was never written."""
    names = set(os.listdir(packs))
    for name in names:
        if name.endswith(".pack") and f"{name[:-5]}.idx" not in names:
            os.unlink(os.path.join(packs, name))


def _small(packs: str) -> list[str]:
    """Paths without their ending."""
    stems = [os.path.join(packs, name[:-4]) for name in os.listdir(packs) if name.endswith(".idx")]
    return [stem for stem in sorted(stems) if os.path.getsize(f"{stem}.pack") < SMALL_BYTES]


def _to_disk(path: str) -> None:
    """What replaces many files is on disk before they go."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
