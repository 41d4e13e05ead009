"""The static chain of one registration, hop by hop as the browser goes: manifest, launcher, interpreter, package.

Each hop is a function that returns what it found and what the next one needs, and raises `Broken` with a sentence
and what to do about it.
"""

import ast
import os
import shlex
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sidekeep.install import files, manifest
from sidekeep.install.machine import Machine

REGISTER = "run `sidekeep install` again"


class Broken(Exception):
    """A hop that does not hold: what is wrong, and what to do."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


@dataclass(frozen=True)
class Launch:
    """What a launcher runs."""

    python: Path
    entry: Path


def check_manifest(path: Path, own_origin: str) -> Path:
    """The manifest as the browser reads it; returns the program that it names."""
    try:
        data = files.read(path)
    except PermissionError:
        raise Broken(f"{path} may not be read", "make it readable for your user") from None
    if data is None:
        raise Broken(f"{path} is not there", REGISTER)
    fault = manifest.fault(data, path.name)
    if fault:
        raise Broken(f"the browser ignores {path}: {fault}", f"{REGISTER} with --take-over")
    found = msgspec.json.decode(data)
    launcher = Path(found["path"])
    if not launcher.is_absolute():
        raise Broken(f"{path} names {launcher}, which is not an absolute path", f"{REGISTER} with --take-over")
    if own_origin not in found["allowed_origins"]:
        raise Broken(f"{path} does not allow {own_origin}", f"{REGISTER} with --take-over")
    return launcher


def check_program(path: Path, what: str) -> None:
    """A file that can be executed, through all links."""
    try:
        found = path.stat()
    except FileNotFoundError:
        link = f" (it links to {os.readlink(path)})" if path.is_symlink() else ""
        raise Broken(f"the {what} {path} is not there{link}", REGISTER) from None
    except PermissionError:
        raise Broken(f"the {what} {path} is in a folder that you may not enter", REGISTER) from None
    if not stat.S_ISREG(found.st_mode):
        raise Broken(f"the {what} {path} is no file", REGISTER)
    if not os.access(path, os.X_OK):
        raise Broken(f"the {what} {path} may not be executed (or lies on a volume that forbids it)", REGISTER)


def read_launcher(path: Path) -> Launch:
    """The interpreter and the entry that our launcher runs."""
    try:
        words = shlex.split(os.fsdecode(path.read_bytes()), comments=True)
        start = words.index("exec")
        python, flags, entry = words[start + 1 : start + 4]
    except (OSError, ValueError):
        raise Broken(f"{path} is not a launcher of ours", f"{REGISTER} with --take-over") from None
    if flags != "-IS":
        raise Broken(f"{path} is not a launcher of this version", REGISTER)
    return Launch(Path(python), Path(entry))


def check_package(launch: Launch) -> str:
    """Whether the recorded interpreter finds the package and what it needs; returns the package's version."""
    try:
        text = launch.entry.read_text(encoding="ascii")
        [folders] = [node.value for node in ast.parse(text).body if isinstance(node, ast.AugAssign)]
        wanted = ast.literal_eval(folders)
    except (OSError, ValueError, SyntaxError):
        raise Broken(f"what the launcher runs, {launch.entry}, is missing or changed", REGISTER) from None
    test = f"import sys; sys.path += {wanted!a}; import sidekeep, msgspec, apsw; print(sidekeep.__version__)"
    try:
        done = subprocess.run(
            [launch.python, "-IS", "-c", test], env={}, capture_output=True, timeout=30, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Broken(f"the interpreter {launch.python} does not run ({error})", REGISTER) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise Broken(f"{launch.python} does not find the package: {lines[-1] if lines else '?'}", REGISTER)
    return done.stdout.decode().strip()


def check_ownership(machine: Machine, paths: list[Path]) -> None:
    """Whether all of it belongs to this user: root's leftovers cannot be replaced or written later."""
    if machine.uid is None:
        return
    for path in paths:
        if path.exists() and path.stat().st_uid not in (machine.uid, 0):
            raise Broken(f"{path} belongs to another user", "remove it as that user, and register again")
        if path.exists() and path.stat().st_uid == 0 and machine.uid != 0 and os.access(path.parent, os.W_OK):
            raise Broken(f"{path} belongs to root", f"sudo chown {machine.uid} {shlex.quote(str(path))}")


def check_state(path: Path) -> None:
    """Whether the state folder can be written by this user, and by nobody else."""
    if not path.exists():
        return
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise Broken(f"the state folder {path} cannot be written", "make it a folder of your user's own")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise Broken(f"the state folder {path} is open to other users", f"chmod 700 {shlex.quote(str(path))}")
