"""Where things lie: the state folder and what is below it, the runtime folder, their modes.

Imports nothing heavy: the host asks for its origins before its first answer.
"""

import os
import stat
import sys

APP = "sidekeep"
FOLDER_MODE = 0o700
FILE_MODE = 0o600


def home() -> str:
    """The user's home folder, also where HOME is unset or relative."""
    found = os.environ.get("HOME", "")
    if sys.platform == "win32":
        return os.path.expanduser("~")
    if os.path.isabs(found):
        return found.rstrip("/") or "/"
    import pwd  # only where HOME does not say it

    return pwd.getpwuid(os.getuid()).pw_dir


def state_dir() -> str:
    """SIDEKEEP_STATE, else the user's data folder: platformdirs.user_data_dir("sidekeep", False).

    Worked out by hand: importing platformdirs costs more than the rest of the first answer.
    """
    told = os.environ.get("SIDEKEEP_STATE")
    if told:
        return os.path.abspath(home() + told[1:] if told[:2] == "~/" else told)
    if sys.platform == "win32":
        from platformdirs import user_data_dir  # asks the shell; the variables may lie

        return user_data_dir(APP, appauthor=False)
    data = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(data):
        return os.path.join(data, APP)
    below = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return os.path.join(home(), below, APP)


def runtime_dir() -> str:
    """A folder of the user's own that lasts as long as the session: for sockets and the open key."""
    if sys.platform == "win32":
        return os.path.join(state_dir(), "run")
    told = os.environ.get("XDG_RUNTIME_DIR", "")
    # A process that was started without the variable must meet the others in the same place.
    for candidate in (told, f"/run/user/{os.getuid()}"):
        if os.path.isabs(candidate) and _is_own_folder(candidate):
            return candidate
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"{APP}-{os.getuid()}")


def _is_own_folder(path: str) -> bool:
    """Whether this is a folder of this user (no link) that nobody else may write to."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if sys.platform == "win32":
        return stat.S_ISDIR(found.st_mode)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def private_folder(path: str) -> str:
    """The folder, made when it is missing, 0700 whatever the umask; parents as the umask has them.

    Raises PermissionError where it belongs to somebody else or is no folder.
    """
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        found = os.stat(path)
        if not stat.S_ISDIR(found.st_mode) or (sys.platform != "win32" and found.st_uid != os.getuid()):
            raise PermissionError(f"{path} is not a folder of this user") from None
        if stat.S_IMODE(found.st_mode) == FOLDER_MODE:
            return path
    os.chmod(path, FOLDER_MODE)
    return path


def private_file(path: str, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """A descriptor (closed on exec) of a file that is 0600 whatever the umask."""
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)
    if sys.platform != "win32" and stat.S_IMODE(os.fstat(descriptor).st_mode) != FILE_MODE:
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


class Places:
    """The paths of one store; making the object touches nothing."""

    def __init__(self, state: str | None = None) -> None:
        self.state = os.path.abspath(state) if state else state_dir()
        below = self.state + os.sep
        self.database = below + "sidekeep.db"
        self.live = below + "live"
        self.hosts = below + "hosts"
        self.locks = below + ".locks"
        self.open_lock = os.path.join(self.locks, "open")
        self.schema_lock = os.path.join(self.locks, "schema")
        self.runner_lock = os.path.join(self.locks, "runner")
        self.origins = below + "origins"
        self.vault = below + "vault"
        self.logs = below + "logs"
        self.backups = below + "backups"
        self.sessions = below + "sessions"
        self.reserve = below + "reserve"

    @property
    def runtime(self) -> str:
        """This store's folder in the runtime folder; short, as socket paths have 104 bytes."""
        from sidekeep.model.digests import sha256_hex  # not before the first answer

        resolved = os.path.realpath(self.state)
        return os.path.join(runtime_dir(), APP, sha256_hex(os.fsencode(resolved))[:16])

    def make(self) -> "Places":
        """Makes the folders that every process needs (the runtime one by `make_runtime`)."""
        for folder in (self.state, self.live, self.hosts, self.locks, self.vault, self.logs, self.backups):
            private_folder(folder)
        return self

    def make_runtime(self) -> str:
        """Makes this store's runtime folder and returns it.

        Raises PermissionError when somebody else has taken its place in the temporary folder.
        """
        path = self.runtime
        root = runtime_dir()
        if not os.path.lexists(root):
            private_folder(root)
        if not _is_own_folder(root):
            raise PermissionError(f"{root} is not a folder of this user")
        private_folder(os.path.dirname(path))
        return private_folder(path)
