"""Writes the objects of a commit into one pack, and large files as loose objects.

To make a file costs more than all else where other programs sync the same disk (2 ms each was measured, 12 objects a
turn): a commit is two files, its pack and that pack's index, and no look at what is there already. libgit2 lists the
packs anew for each object that it writes; for reading, joining packs and the index of the work tree it is the better
one. Source of the formats: gitformat-pack(5).
"""

import os
import zlib
from hashlib import sha1
from itertools import accumulate
from typing import Any

from sidekeep.sessions import gitdir

_LEVEL = 1
_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_NAME = 20


class Objects:
    """The objects of one repository. What is put is in the repository after `write`; what has to be read opens it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._packed: dict[str, bytes] = {}
        self._repository: Any = None

    @property
    def repository(self) -> Any:
        if self._repository is None:
            self._repository = gitdir.opened(self._folder)
        return self._repository

    def read(self, name: str) -> bytes:
        """Raises KeyError for one that is not there or cannot be read."""
        try:
            return bytes(self.repository[name].read_raw())
        except gitdir.git().GitError as error:
            raise KeyError(str(error)) from error

    def put(self, kind: str, content: bytes) -> str:
        """The name of the object."""
        digest = sha1(b"%s %d\0" % (kind.encode(), len(content)), usedforsecurity=False)
        digest.update(content)
        name = digest.hexdigest()
        if name not in self._packed:
            self._packed[name] = _header(_KINDS[kind], len(content)) + zlib.compress(content, _LEVEL)
        return name

    def write(self) -> None:
        """One pack of what was put: seen as a whole, or not at all, since its index comes last."""
        if not self._packed:
            return
        pack, index = _pack(self._packed)
        place = os.path.join(self._folder, ".git", "objects", "pack", f"pack-{pack[-_NAME:].hex()}")
        scratch = os.path.join(self._folder, ".git", "sidekeep", "index-of-pack")
        # A pack without an index is not looked at, so that it may be written where it stays.
        _write(f"{place}.pack", pack)
        _write(scratch, index)
        os.replace(scratch, f"{place}.idx")
        self._packed = {}
        self._repository = None

    def put_file(self, path: str, size: int) -> str:
        """A blob of a file of this size, which may not fit into memory. Raises OSError for one that is shorter."""
        header = b"blob %d\0" % size
        digest = sha1(header, usedforsecurity=False)
        squeezer = zlib.compressobj(_LEVEL)
        temporary = os.path.join(self._folder, ".git", "sidekeep", "object")
        left = size
        with open(path, "rb") as source, open(temporary, "wb") as file:
            file.write(squeezer.compress(header))
            while piece := source.read(256 * 1024):
                digest.update(piece)
                file.write(squeezer.compress(piece))
                left -= len(piece)
            file.write(squeezer.flush())
        if left:
            raise OSError(f"{path} does not have the size of its attachment")
        name = digest.hexdigest()
        folder = os.path.join(self._folder, ".git", "objects", name[:2])
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.replace(temporary, os.path.join(folder, name[2:]))
        return name


def _header(kind: int, size: int) -> bytes:
    """Type and size of a packed object: four bits of the size, then seven in each byte that follows."""
    first, size = kind << 4 | size & 15, size >> 4
    found = bytearray()
    while size:
        found.append(first | 128)
        first, size = size & 127, size >> 7
    found.append(first)
    return bytes(found)


def _pack(objects: dict[str, bytes]) -> tuple[bytes, bytes]:
    """A pack and its index (version 2)."""
    body = b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big") + b"".join(objects.values())
    pack = body + sha1(body, usedforsecurity=False).digest()
    offsets = dict(zip(objects, accumulate(map(len, objects.values()), initial=12), strict=False))
    names = sorted(objects)
    counts = [0] * 256
    for name in names:
        counts[int(name[:2], 16)] += 1
    table = b"".join(
        (
            b"\xfftOc" + (2).to_bytes(4, "big"),
            b"".join(total.to_bytes(4, "big") for total in accumulate(counts)),
            bytes.fromhex("".join(names)),
            b"".join(zlib.crc32(objects[name]).to_bytes(4, "big") for name in names),
            b"".join(offsets[name].to_bytes(4, "big") for name in names),
            pack[-_NAME:],
        )
    )
    return pack, table + sha1(table, usedforsecurity=False).digest()


def names_in(index: bytes) -> list[str]:
    """The objects of a pack by its index; empty for an index of another version."""
    if index[:8] != b"\xfftOc\0\0\0\x02":
        return []
    total = int.from_bytes(index[8 + 255 * 4 : 8 + 256 * 4], "big")
    start = 8 + 256 * 4
    return [index[at : at + _NAME].hex() for at in range(start, start + total * _NAME, _NAME)]


def _write(path: str, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(fd, "wb", buffering=0) as file:
        left = memoryview(content)
        while left:
            left = left[file.write(left) :]
