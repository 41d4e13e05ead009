"""Warns of a state folder on a network drive or inside a folder that a program synchronises.

SQLite's locks and flushes are not kept by network drives, and a synchroniser copies the files of a store at different
moments and puts other machines' copies in their place. Nothing is opened here but small files of the system and of
the synchronisers; what cannot be told is no warning. Takes well under a millisecond (`tests/verify/test_place.py`).
"""

import os
import sys

from sidekeep.model.places import home

PlaceWarning = dict[str, str]

#: Types of file systems whose files lie on another machine. A FUSE type is `fuse.<program>`.
NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "ncpfs", "ncp", "9p", "afs", "coda",
     "ceph", "glusterfs", "lustre", "gpfs", "beegfs", "ocfs2", "gfs2", "pvfs2", "orangefs", "prl_fs", "vboxsf",
     "fuse.vmhgfs-fuse", "virtiofs", "osxfuse", "macfuse", "fuse")
)  # fmt: skip
#: FUSE programs for drives of this machine: NTFS, exFAT, encryption above a local folder, containers.
LOCAL_FUSE = frozenset(
    ("fuse.ntfs-3g", "fuse.exfat", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.fuse-overlayfs", "fuse.bindfs",
     "fuse.mergerfs", "fuse.ext2", "fuse.lxcfs", "fuse.portal")
)  # fmt: skip

#: Folder names that only a synchroniser gives, in lower case; a name that ends in a blank stands for a beginning.
_NAMES = (
    ("dropbox", "Dropbox"),
    ("dropbox ", "Dropbox"),
    ("onedrive", "OneDrive"),
    ("onedrive ", "OneDrive"),
    ("mobile documents", "iCloud Drive"),
    ("icloud drive", "iCloud Drive"),
    ("iclouddrive", "iCloud Drive"),
    ("cloudstorage", "a cloud drive"),
    ("google drive", "Google Drive"),
    ("googledrive", "Google Drive"),
    ("my drive", "Google Drive"),
    ("nextcloud", "Nextcloud"),
    ("owncloud", "ownCloud"),
    ("pclouddrive", "pCloud"),
    ("megasync", "MEGA"),
    ("syncthing", "Syncthing"),
)
#: Entries that a synchroniser leaves at the top of what it synchronises.
_MARKS = (
    (".stfolder", "Syncthing"),
    (".dropbox", "Dropbox"),
    (".dropbox.cache", "Dropbox"),
    (".owncloudsync.log", "ownCloud"),
    (".nextcloudsync.log", "Nextcloud"),
    (".sync_journal.db", "Nextcloud"),
    (".tmp.drivedownload", "Google Drive"),
    (".tmp.driveupload", "Google Drive"),
    (".megaignore", "MEGA"),
    (".seafile-data", "Seafile"),
    (".849C9593-D756-4E56-8D6E-42412F2A707B", "OneDrive"),
)


def warnings(state: str) -> list[PlaceWarning]:
    """`[{"code": "network_folder" | "synced_folder", "message"}]` for a state folder; usually empty."""
    path = os.path.realpath(state)
    found = []
    network = _network(path)
    if network:
        found.append(
            {
                "code": "network_folder",
                "message": f"{state} lies on a network drive ({network}), which cannot keep what is saved there safe: "
                "move it to a disk of this machine (`sidekeep install --state DIR`).",
            }
        )
    program = _synchroniser(path)
    if program:
        found.append(
            {
                "code": "synced_folder",
                "message": f"{state} lies in a folder that {program} synchronises, which can damage the store: move it "
                "elsewhere (`sidekeep install --state DIR`); `sidekeep sync` brings conversations to other machines.",
            }
        )
    return found


def _network(path: str) -> str:
    """The kind of network drive that a path lies on, empty for a disk of this machine."""
    if path.startswith(("\\\\", "//")):
        return "a shared folder"
    if sys.platform == "win32":
        import ctypes

        drive = os.path.splitdrive(path)[0] + "\\"
        return "a network drive" if ctypes.windll.kernel32.GetDriveTypeW(drive) == 4 else ""
    if sys.platform == "darwin":
        kind = _mac_type(path)
    else:
        try:
            with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
                kind = mount_type(file.read(), path)
        except OSError:
            return ""
    if kind in NETWORK or (kind.startswith("fuse.") and kind not in LOCAL_FUSE):
        return kind
    return ""


def mount_type(mountinfo: str, path: str) -> str:
    """The type of the file system that a path lies on; the last of the longest mount points counts (proc(5))."""
    best, kind = "", ""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = _plain(fields[4])
        above = point.rstrip("/") + "/"
        if (path + "/").startswith(above) and len(point) >= len(best):
            best, kind = point, after.split(" ")[0]
    return kind


def _plain(field: str) -> str:
    """A mount point without the octal escapes of blanks, tabs, line ends and backslashes."""
    if "\\" not in field:
        return field
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def _mac_type(path: str) -> str:
    """`f_fstypename` of statfs(2), which Python's statvfs leaves out."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(4096)
    call = getattr(library, "statfs$INODE64", None) or library.statfs
    if call(os.fsencode(path), room) != 0:
        return ""
    # struct statfs with 64-bit inodes: 72 bytes of numbers, then char f_fstypename[16].
    return room.raw[72:88].split(b"\0")[0].decode("ascii", "replace")


def _synchroniser(path: str) -> str:
    """Who synchronises the folder or one above it: told by their own files, by marks, by names."""
    for program, root in _told_roots():
        if _below(path, os.path.realpath(root)):
            return program
    at, user = path, os.path.realpath(home())
    while True:
        above, name = os.path.split(at)
        found = _named(name) or _marked(at)
        # The home folder itself is nobody's copy: a mark there is a program's settings (`~/.dropbox`).
        if found and at != user:
            return found
        if above == at:
            return ""
        at = above


def _named(name: str) -> str:
    low = name.lower()
    for known, program in _NAMES:
        if low == known or (known.endswith(" ") and low.startswith((known, known[:-1] + "-"))):
            return program
    return ""


def _marked(folder: str) -> str:
    for mark, program in _MARKS:
        if os.path.lexists(os.path.join(folder, mark)):
            return program
    return ""


def _below(path: str, root: str) -> bool:
    return bool(root) and (path + os.sep).startswith(root.rstrip(os.sep) + os.sep)


def _told_roots() -> list[tuple[str, str]]:
    """Folders that synchronisers name: Dropbox in its `info.json`, OneDrive in the environment."""
    roots = [
        ("OneDrive", value)
        for name in ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")
        if (value := os.environ.get(name))
    ]
    folder = os.environ.get("LOCALAPPDATA", "") if sys.platform == "win32" else os.path.join(home(), ".dropbox")
    path = (
        os.path.join(folder, "Dropbox", "info.json") if sys.platform == "win32" else os.path.join(folder, "info.json")
    )
    try:
        with open(path, "rb") as file:
            text = file.read(64 * 1024)
    except OSError:
        return roots
    import json

    try:
        accounts = json.loads(text)
    except ValueError:
        return roots
    told = accounts.values() if isinstance(accounts, dict) else ()
    paths = (account.get("path") for account in told if isinstance(account, dict))
    return roots + [("Dropbox", path) for path in paths if isinstance(path, str)]
