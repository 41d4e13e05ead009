"""A tree that is changed in a few places: only the folders on the way to a change are written again."""

from bisect import bisect_left
from collections.abc import Mapping

from sidekeep.sessions.objects import Objects

_FILE, _FOLDER = b"100644", b"40000"
_ID = 20


class Entries:
    """The entries of one tree as Git stores them, in its order (a folder's name counts with a slash behind it)."""

    def __init__(self, raw: bytes) -> None:
        self._keys: list[bytes] = []
        self._rows: list[bytes] = []
        at = 0
        while at < len(raw):
            end = raw.index(b"\0", at)
            mode, _, name = raw[at:end].partition(b" ")
            self._keys.append(name + b"/" if mode == _FOLDER else name)
            self._rows.append(raw[at : end + 1 + _ID])
            at = end + 1 + _ID

    def folder(self, name: bytes) -> str | None:
        """The tree of a folder."""
        at = bisect_left(self._keys, name + b"/")
        if at < len(self._keys) and self._keys[at] == name + b"/":
            return self._rows[at][-_ID:].hex()
        return None

    def put(self, mode: bytes, name: bytes, oid: str) -> None:
        key = name + b"/" if mode == _FOLDER else name
        row = b"%s %s\0%s" % (mode, name, bytes.fromhex(oid))
        at = bisect_left(self._keys, key)
        if at < len(self._keys) and self._keys[at] == key:
            self._rows[at] = row
        else:
            self._keys.insert(at, key)
            self._rows.insert(at, row)

    def raw(self) -> bytes:
        return b"".join(self._rows)


class Tree:
    """The tree of a commit, to which files are added; `write` makes the new tree and returns its id.

    `known` are trees by id that need not be read; those that were written are in `written` afterwards.
    """

    def __init__(
        self, objects: Objects, base: str | None, known: Mapping[str, bytes], written: dict[str, bytes]
    ) -> None:
        self._objects = objects
        self._known = known
        self._written = written
        self._entries = Entries(b"" if base is None else self._read(base))
        self._folders: dict[str, Tree] = {}

    def _read(self, oid: str) -> bytes:
        found = self._known.get(oid)
        return self._objects.read(oid) if found is None else found

    def put(self, path: str, blob: str) -> None:
        """A file at a path with `/`."""
        first, slash, rest = path.partition("/")
        if not slash:
            self._entries.put(_FILE, first.encode(), blob)
            return
        folder = self._folders.get(first)
        if folder is None:
            below = self._entries.folder(first.encode())
            folder = self._folders[first] = Tree(self._objects, below, self._known, self._written)
        folder.put(rest, blob)

    def write(self) -> str:
        for name, folder in self._folders.items():
            self._entries.put(_FOLDER, name.encode(), folder.write())
        raw = self._entries.raw()
        oid = self._objects.put("tree", raw)
        self._written[oid] = raw
        return oid
