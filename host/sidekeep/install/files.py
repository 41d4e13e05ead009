"""Writes the installer's files: whole or not at all, with the mode that was meant whatever the umask."""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> bytes | None:
    """The bytes of an ordinary file; None where nothing is.

    A link or a folder in its place reads as a text that is none of ours, so that it counts as foreign.
    """
    if path.is_symlink():
        return b"link to " + os.fsencode(os.readlink(path))
    if path.is_dir():
        return b"folder"
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def mode(path: Path) -> int | None:
    """The permission bits; None where nothing is."""
    try:
        return path.lstat().st_mode & 0o7777
    except (FileNotFoundError, NotADirectoryError):
        return None


def put(path: Path, data: bytes, bits: int) -> None:
    """Replaces the file in one step: a reader sees the old one or the new one."""
    waiting = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if sys.platform != "win32":
                os.fchmod(descriptor, bits)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(waiting, path)
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def make_folder(path: Path, bits: int) -> None:
    """Makes one folder with exactly this mode; its parent is there, and it may be there by now."""
    path.mkdir(mode=bits, exist_ok=True)
    if sys.platform != "win32":
        path.chmod(bits)


def missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for `path` to be one, outermost first."""
    found: list[Path] = []
    while not path.is_dir() and path != path.parent:
        found.insert(0, path)
        path = path.parent
    return found


def remove_folder(path: Path) -> bool:
    """Removes a folder that is empty; False where it is not, or is gone."""
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def _sync_folder(path: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Keeps a second installer out of this folder; the lock is the folder's own, so no file is left behind."""
    if sys.platform == "win32":  # a folder cannot be locked there; two installers would have to be started by hand
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
