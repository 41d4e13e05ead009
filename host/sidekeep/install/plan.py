"""The plan of an installation: every write, worked out before the first one; what is not in it is not written."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sidekeep.install import files, launcher, manifest
from sidekeep.install.machine import Machine
from sidekeep.install.receipt import FileWritten, KeySet, Receipt, Role
from sidekeep.install.registry import Hive, parents
from sidekeep.install.targets import FileTarget, KeyTarget, Target
from sidekeep.model.errors import Conflict


@dataclass(frozen=True)
class MakeFolder:
    path: Path
    mode: int

    @property
    def sentence(self) -> str:
        return f"make the folder {self.path}"


@dataclass(frozen=True)
class PutFile:
    """A file of ours, whole; `replaces` says what stands there now."""

    path: Path
    data: bytes
    mode: int
    role: Role
    browsers: tuple[str, ...] = ()
    replaces: bool = False

    @property
    def sentence(self) -> str:
        what = {
            "launcher": "the program that a browser starts",
            "entry": "what that program runs",
            "manifest": "lets the Sidekeep extension, and no other, start it",
        }[self.role]
        who = f" for {', '.join(self.browsers)}" if self.browsers else ""
        return f"{'replace' if self.replaces else 'write'} {self.path}{who} ({what})"


@dataclass(frozen=True)
class PutOrigins:
    """The file of further extensions that the host accepts."""

    path: Path
    data: bytes
    mode: int
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        changes = [f"accept {one}" for one in self.added] + [f"no longer accept {one}" for one in self.removed]
        return f"write {self.path} ({', '.join(changes)})"


@dataclass(frozen=True)
class SetKey:
    """A registry key's default value, with the keys above it that have to be made."""

    hive: Hive
    key: str
    value: str
    browsers: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return f"set {self.hive}\\{self.key} for {', '.join(self.browsers)} (names the manifest)"


Action = MakeFolder | PutFile | PutOrigins | SetKey


@dataclass
class Plan:
    """What will be written, and what else is to be said."""

    state: Path
    launcher: Path
    actions: list[Action] = field(default_factory=list)
    kept: list[FileWritten | KeySet] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    extension_ids: tuple[str, ...] = ()


class Planner:
    """Collects the writes of one installation; nothing is touched before `Plan` is carried out."""

    def __init__(self, machine: Machine, receipt: Receipt, plan: Plan, *, system: bool, take_over: bool) -> None:
        self.machine = machine
        self.receipt = receipt
        self.plan = plan
        self.folder_mode = 0o755 if system else 0o700
        self.take_over = take_over
        self._folders: set[Path] = set()
        self._keys: set[tuple[Hive, str]] = set()

    def folder(self, path: Path) -> None:
        """Makes what is missing of a folder."""
        for missing in files.missing_folders(path):
            if missing not in self._folders:
                self._folders.add(missing)
                self.plan.actions.append(MakeFolder(missing, self.folder_mode))

    def file(self, path: Path, data: bytes, mode: int, role: Role, browsers: tuple[str, ...] = ()) -> None:
        """Writes a file unless it is there just so.

        Raises Conflict when another program's file is in its place and may not be taken over.
        """
        now = files.read(path)
        entry = FileWritten(str(path), files.sha256(data), role, browsers)
        if now == data and files.mode(path) == mode:
            self.plan.kept.append(entry)
            return
        if now not in (None, data) and files.sha256(now or b"") != self.receipt.hash_of(path) and not self.take_over:
            raise Conflict(f"{_described(path, now or b'')}: remove it, or replace it with --take-over.")
        self.folder(path.parent)
        self.plan.actions.append(PutFile(path, data, mode, role, browsers, replaces=now is not None))

    def target(self, target: Target, data: bytes, manifest_file: Path) -> None:
        """One registration: a manifest in a browser's folder, or a key that names the one manifest (Windows)."""
        if isinstance(target, FileTarget):
            who = self._readers(str(target.path), target.browsers)
            self.file(target.path, data, 0o644, "manifest", who)
            return
        who = self._readers(target.key, target.browsers)
        self._value(KeyTarget(target.hive, target.key, who), str(manifest_file))

    def _readers(self, place: str, browsers: tuple[str, ...]) -> tuple[str, ...]:
        """Who reads a place: those of earlier installations and those of this one."""
        known = [entry.browsers for entry in self.receipt.files("manifest") if entry.path == place]
        known += [entry.browsers for entry in self.receipt.values() if entry.key == place]
        return tuple(dict.fromkeys([name for names in [*known, browsers] for name in names]))

    def _value(self, target: KeyTarget, value: str) -> None:
        registry = self.machine.registry
        if registry is None:
            return
        now = registry.read(target.hive, target.key)
        entry = KeySet(target.hive, target.key, value, target.browsers)
        if now == value:
            self.plan.kept.append(entry)
            return
        ours = {(known.hive, known.key, known.value) for known in self.receipt.values()}
        if now is not None and (target.hive, target.key, now) not in ours and not self.take_over:
            raise Conflict(
                f"{target.hive}\\{target.key} already names {now}: remove it, or replace it with --take-over."
            )
        missing = [
            key
            for key in reversed(parents(target.key))
            if not registry.exists(target.hive, key) and (target.hive, key) not in self._keys
        ]
        self._keys.update((target.hive, key) for key in missing)
        self.plan.actions.append(SetKey(target.hive, target.key, value, target.browsers, tuple(missing)))

    def earlier(self, chosen: Iterable[Target]) -> list[Target]:
        """Registrations made before that still stand as they were made: these are brought up to date too.

        One that somebody removed or changed is left alone: nothing comes back that a person took away.
        """
        taken = {target.path for target in chosen if isinstance(target, FileTarget)}
        standing: list[Target] = []
        for entry in self.receipt.files("manifest"):
            path = Path(entry.path)
            now = files.read(path)
            if path not in taken and entry.browsers and now is not None and files.sha256(now) == entry.sha256:
                standing.append(FileTarget(path, entry.browsers))
        return standing


def _described(path: Path, data: bytes) -> str:
    """Whose file is in the way: a manifest names its program."""
    told = manifest.program(data)
    return f"{path} is not ours (it starts {told})" if told else f"{path} is not ours"


def launcher_files(
    machine: Machine, folder: Path, state: str | None, python: str, folders: list[str]
) -> tuple[Path, list[tuple[Path, bytes, int, Role]]]:
    """The launcher's path, and the files that make it."""
    entry_path = folder / launcher.ENTRY
    if machine.system == "windows":
        path = folder / (launcher.LAUNCHER + ".bat")
        text = launcher.batch_launcher(python, entry_path, state)
    else:
        path = folder / launcher.LAUNCHER
        text = launcher.shell_launcher(python, entry_path, state)
    entry = launcher.entry(folders)
    return path, [(entry_path, entry, 0o644, "entry"), (path, text, 0o755, "launcher")]
