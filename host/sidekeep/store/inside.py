"""Files inside one folder of the user's, and never outside it: no `..`, no links, no devices, nothing of Git's.

Each part of a path is opened relative to the one before, without following links, so that nobody who changes the folder
meanwhile can lead out of it.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from sidekeep.model.errors import Conflict, ForbiddenPath, NotFound, TooLarge
from sidekeep.model.ids import new_id

FILE_BYTES = 8 * 1024 * 1024
ENTRIES = 500
_DEVICES = re.compile(r"^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$", re.IGNORECASE)
_OWN = frozenset((".git", ".sidekeep", ".openprogram"))
_PARTS, _PART, _PATH = 64, 255, 4096
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_TEMPORARY = ".sidekeep-"


def is_possible() -> bool:
    """Whether this system can open files relative to a folder; elsewhere no file of a project is touched."""
    return {os.open, os.mkdir, os.stat, os.unlink} <= os.supports_dir_fd and hasattr(os, "O_DIRECTORY")


class Entry(NamedTuple):
    """One entry of a folder; `size` in bytes, of a file."""

    name: str
    kind: str
    size: int


def parts_of(path: str) -> list[str]:
    """The names on the way; empty for the folder itself. Raises ForbiddenPath."""
    if path in ("", "."):
        return []
    parts = path.split("/")
    if len(parts) > _PARTS or len(path) > _PATH or path.startswith("/") or "\\" in path or any(map(_is_wrong, parts)):
        raise ForbiddenPath(f"{path[:200]!r} is no path inside the project's folder.")
    return parts


def _is_wrong(part: str) -> bool:
    try:
        encoded = part.encode("utf-8")
    except UnicodeEncodeError:
        return True
    plain = part.rstrip(" .").lower()
    return (
        part in ("", ".", "..") or plain in _OWN or part != part.rstrip(" .") or len(encoded) > _PART
        or any(ord(c) < 32 or ord(c) == 127 or c == ":" for c in part)
        or _DEVICES.match(plain.split(".")[0].strip()) is not None or part.startswith(_TEMPORARY)
    )  # fmt: skip


@contextmanager
def _folder(root: str, parts: list[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder at the end of the way. Raises NotFound, ForbiddenPath."""
    try:
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        raise NotFound(f"The project's folder is gone: {root}") from None
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o777, dir_fd=fd)
            try:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW, dir_fd=fd)
            except FileNotFoundError:
                raise NotFound(f"There is no folder {'/'.join(parts)}.") from None
            except OSError:
                raise ForbiddenPath(f"{'/'.join(parts)} is no folder inside the project's folder.") from None
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def listing(root: str, path: str) -> list[Entry]:
    """What lies in a folder, by name; links and what is Git's are left out. Raises NotFound, ForbiddenPath."""
    found: list[Entry] = []
    with _folder(root, parts_of(path)) as fd:
        for name in sorted(os.listdir(fd)):
            if _is_wrong(name):
                continue
            about = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode):
                found.append(Entry(name, "folder", 0))
            elif stat.S_ISREG(about.st_mode):
                found.append(Entry(name, "file", about.st_size))
            if len(found) == ENTRIES:
                break
    return found


def names(root: str, path: str) -> list[str]:
    """The names of the plain files in a folder, sorted; of any number. Raises NotFound, ForbiddenPath."""
    with _folder(root, parts_of(path)) as fd, os.scandir(fd) as entries:
        return sorted(each.name for each in entries if each.is_file(follow_symlinks=False) and not _is_wrong(each.name))


def read(root: str, path: str) -> bytes | None:
    """The whole of a file; None where there is none. Raises ForbiddenPath for what is no plain file, TooLarge."""
    parts = parts_of(path)
    if not parts:
        raise ForbiddenPath("The project's folder is no file.")
    try:
        with _folder(root, parts[:-1]) as folder:
            fd = os.open(parts[-1], os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW, dir_fd=folder)
    except (FileNotFoundError, NotFound):
        if not os.path.isdir(root):
            raise NotFound(f"The project's folder is gone: {root}") from None
        return None
    except OSError:
        raise ForbiddenPath(f"{path} is no file inside the project's folder that can be read.") from None
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        raise ForbiddenPath(f"{path} is no file.")
    with os.fdopen(fd, "rb") as file:
        if about.st_size > FILE_BYTES:
            raise TooLarge(f"{path} has {about.st_size} bytes; at most {FILE_BYTES} are read.")
        return file.read(FILE_BYTES + 1)


def digest(data: bytes | None) -> str | None:
    """SHA-256 in lower-case hex; None for no file."""
    return None if data is None else sha256(data).hexdigest()


def write(root: str, path: str, data: bytes | None, expected: str | None) -> None:
    """Put a file in the place of what has the digest `expected` (None: nothing is there), or with None remove it.

    All of it or nothing; the mode of a file that is replaced stays. Raises Conflict where something else is there,
    ForbiddenPath, OSError.
    """
    parts = parts_of(path)
    if digest(read(root, path)) != expected:
        raise Conflict(f"{path} was changed meanwhile.")
    with _folder(root, parts[:-1], make=data is not None) as folder:
        name = parts[-1]
        if data is None:
            if expected is not None:
                os.unlink(name, dir_fd=folder)
                os.fsync(folder)
            return
        mode = None
        if expected is not None:
            mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        temporary = f"{_TEMPORARY}{new_id()}"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o666, dir_fd=folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                if mode is not None:
                    os.fchmod(fd, mode)
                file.flush()
                os.fsync(fd)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)
