"""A VFS that passes everything to the system's own, notes what would change a disk, and can fail or die on demand.

    log = Log()
    vfs = RecordingVFS("lab", log)
    open_store(places, vfs="lab")

The notes are what `disk.Disk` replays. Only files of the database are noted: SQLite's temporary files never
have to last. Inodes are numbered here, so that a file that was deleted and made again is another one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw

WRITE, TRUNCATE, SYNC, FAILED_SYNC, CREATE, DELETE, DIRECTORY_SYNC, MARK = (
    "write", "truncate", "sync", "failed sync", "create", "delete", "directory sync", "mark",
)  # fmt: skip
_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


class Note(NamedTuple):
    """One thing that happened. `name` is the file's last path component; `data` the bytes, the mark, or nothing."""

    kind: str
    inode: int = 0
    name: str = ""
    offset: int = 0
    data: Any = None


class Killed(apsw.IOError):
    """The process is dead: whatever it tries is not done."""


Fault = Callable[[int, str, str], apsw.Error | None]
"""Asked before each change with its number (from 0), its kind and the file's name: the error to raise, or None."""


class Log:
    """The notes in order, and what is to go wrong."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.changes = 0
        self.fault: Fault | None = None
        self.dead = False
        self.watch: Callable[[str, str], None] | None = None
        self._inodes = 0
        self._names: dict[str, int] = {}

    def mark(self, what: object) -> None:
        """Note something that the outside world has seen, such as an acknowledgement."""
        self.notes.append(Note(MARK, data=what))

    def kill_at(self, number: int) -> None:
        """Let the process die just before its change of this number."""

        def fault(count: int, _kind: str, _name: str) -> apsw.Error | None:
            if count >= number:
                self.dead = True
            return None

        self.fault = fault

    def revive(self) -> None:
        """A new process comes: its changes are done again."""
        self.dead, self.fault = False, None

    def before(self, kind: str, name: str) -> None:
        """Raises what the fault says; a dead process gets nothing done."""
        if self.watch is not None:
            self.watch(kind, name)
        number, self.changes = self.changes, self.changes + 1
        error = self.fault(number, kind, name) if self.fault is not None else None
        if self.dead:
            raise Killed("the process is dead")
        if error is not None:
            raise error

    def inode_of(self, name: str, *, made: bool) -> int:
        """The number of the file that has this name now; a new one when it was just made."""
        if made or name not in self._names:
            self._inodes += 1
            self._names[name] = self._inodes
            self.notes.append(Note(CREATE, self._inodes, name))
        return self._names[name]

    def deleted(self, name: str, *, durable: bool) -> None:
        self.notes.append(Note(DELETE, self._names.pop(name, 0), name))
        if durable:
            self.notes.append(Note(DIRECTORY_SYNC))


class RecordingFile(apsw.VFSFile):
    """One open file whose changes are noted before they are passed on."""

    def __init__(self, log: Log, filename: Any, flags: list[int], existed: bool) -> None:
        super().__init__("", filename, flags)
        self._log = log
        asked = flags[0]
        path = filename.filename() if isinstance(filename, apsw.URIFilename) else str(filename)
        self._name = path.rpartition("/")[2]
        self._inode = log.inode_of(self._name, made=not existed)
        # As SQLite's own: the first sync of a new log or journal syncs its directory too.
        self._sync_directory = not existed and bool(asked & _JOURNALS)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._log.before(WRITE, self._name)
        super().xWrite(data, offset)
        self._log.notes.append(Note(WRITE, self._inode, self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        self._log.before(TRUNCATE, self._name)
        super().xTruncate(size)
        self._log.notes.append(Note(TRUNCATE, self._inode, self._name, size))

    def xSync(self, flags: int) -> None:
        try:
            self._log.before(SYNC, self._name)
        except Killed:
            raise
        except apsw.Error:
            self._log.notes.append(Note(FAILED_SYNC, self._inode, self._name))
            raise
        # What a sync does to a disk is the model's business; waiting for the real one would only take time.
        self._log.notes.append(Note(SYNC, self._inode, self._name))
        if self._sync_directory:
            self._sync_directory = False
            self._log.notes.append(Note(DIRECTORY_SYNC))


class RecordingVFS(apsw.VFS):
    """Registered under `name` for as long as the object lives."""

    def __init__(self, name: str, log: Log) -> None:
        self.name = name
        self._log = log
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or not flags[0] & (apsw.SQLITE_OPEN_MAIN_DB | _JOURNALS):
            return apsw.VFSFile("", name, flags)
        existed = self.xAccess(path, apsw.SQLITE_ACCESS_EXISTS)
        if not existed and flags[0] & apsw.SQLITE_OPEN_CREATE:
            self._log.before(CREATE, path.rpartition("/")[2])
        return RecordingFile(self._log, name, flags, existed)

    def xDelete(self, path: str, sync_directory: bool) -> None:
        name = path.rpartition("/")[2]
        self._log.before(DELETE, name)
        super().xDelete(path, sync_directory)
        self._log.deleted(name, durable=sync_directory)


_count = 0


@contextmanager
def recording(log: Log) -> Iterator[str]:
    """Registers a recording VFS and gives its name."""
    global _count
    _count += 1
    vfs = RecordingVFS(f"laboratory-{_count}", log)
    try:
        yield vfs.name
    finally:
        vfs.unregister()
