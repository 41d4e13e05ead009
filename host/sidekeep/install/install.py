"""`sidekeep install`: works out the plan, then writes exactly what it says."""

import compileall
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sidekeep.install import browsers, files, launcher, manifest, origins_file
from sidekeep.install import receipt as receipts
from sidekeep.install.machine import Machine
from sidekeep.install.plan import Action, MakeFolder, Plan, Planner, PutFile, PutOrigins, SetKey, launcher_files
from sidekeep.install.receipt import FileWritten, FolderMade, KeyMade, KeySet, OriginAdded, Receipt
from sidekeep.install.targets import choose
from sidekeep.model import places
from sidekeep.model.errors import InvalidCommand, NeedsPermission
from sidekeep.wire.origins import EXTENSION_ID

# What the host imports before it can answer its first command.
COMPILED = ("sidekeep", "msgspec", "apsw")


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    state: Path
    bake_state: bool = False
    browsers: tuple[str, ...] = ()
    user_data_dirs: tuple[Path, ...] = ()
    extension_ids: tuple[str, ...] = ()
    remove_extension_ids: tuple[str, ...] = ()
    system: bool = False
    take_over: bool = False


def program_folder(machine: Machine, state: Path, *, system: bool) -> Path:
    """Where launcher and receipt lie: in the state folder, or in a place that every user may read."""
    if not system:
        return state / "bin"
    return machine.path(
        {
            "linux": "/usr/local/lib/sidekeep",
            "macos": "/Library/Application Support/Sidekeep",
            "windows": "/Program Files/Sidekeep",
        }[machine.system]
    )


def make_plan(machine: Machine, request: Request) -> Plan:
    """The plan; touches nothing.

    Raises InvalidCommand, NotFound, Conflict (a foreign file is in the way) and NeedsPermission (wrong user).
    """
    _refuse_wrong_user(machine, request)
    folder = program_folder(machine, request.state, system=request.system)
    receipt = receipts.load(folder)
    python = launcher.interpreter()
    baked = str(request.state) if request.bake_state and not request.system else None
    path, parts = launcher_files(machine, folder, baked, python, launcher.import_folders())
    plan = Plan(state=request.state, launcher=path, notes=browsers.warnings(machine))
    warning = launcher.interpreter_warning(python)
    if warning:
        plan.notes.append(warning)

    planner = Planner(machine, receipt, plan, system=request.system, take_over=request.take_over)
    chosen, notes = choose(machine, request.browsers, request.user_data_dirs, system=request.system)
    plan.notes += notes
    ids = _extensions(request, planner)
    plan.extension_ids = tuple(ids)
    for part_path, data, mode, role in parts:
        planner.file(part_path, data, mode, role)
    data = manifest.build(path, ids)
    own_manifest = folder / manifest.FILE_NAME
    if machine.system == "windows":
        planner.file(own_manifest, data, 0o644, "manifest")
    for target in [*chosen, *planner.earlier(chosen)]:
        planner.target(target, data, own_manifest)
    return plan


def _refuse_wrong_user(machine: Machine, request: Request) -> None:
    if request.system:
        if machine.uid not in (0, None):
            raise NeedsPermission("Registering for all users needs root: run it with sudo, or without --system.")
    elif machine.behind_sudo and not request.user_data_dirs:
        raise NeedsPermission(
            "Under sudo this would register for root and not for you: run it without sudo, or with --system."
        )


def _extensions(request: Request, planner: Planner) -> list[str]:
    """The extensions to accept: the fixed one and those of the origins file, as this request changes them."""
    added = [manifest.checked_id(one) for one in request.extension_ids]
    removed = [manifest.checked_id(one) for one in request.remove_extension_ids]
    if EXTENSION_ID in removed:
        raise InvalidCommand("Sidekeep's own extension cannot be removed from what the host accepts.")
    path = Path(places.Places(str(request.state)).origins)
    known = origins_file.read(path)
    new = [one for one in dict.fromkeys(added) if one not in known and one != EXTENSION_ID]
    gone = [one for one in dict.fromkeys(removed) if one in known]
    if new or gone:
        planner.folder(request.state)
        data = origins_file.changed(path, new, gone)
        planner.plan.actions.append(PutOrigins(path, data, 0o600, tuple(new), tuple(gone)))
    return list(dict.fromkeys([EXTENSION_ID, *(one for one in known if one not in gone), *new]))


def carry_out(machine: Machine, request: Request, plan: Plan) -> Receipt:
    """Writes what the plan says; the receipt first, so that an interrupted installation can be taken away.

    Raises NeedsPermission where a folder cannot be written.
    """
    folder = program_folder(machine, request.state, system=request.system)
    try:
        _make_folders([action for action in plan.actions if isinstance(action, MakeFolder)])
        with files.one_at_a_time(folder):
            receipt = receipts.load(folder)
            for entry in [*_promised(plan.actions), *plan.kept]:
                receipt.note(entry)
            receipt.writes = [entry for entry in receipt.writes if not _withdrawn(entry, plan.actions)]
            receipts.save(folder, receipt)
            for action in plan.actions:
                _write(machine, action)
    except OSError as error:
        raise NeedsPermission(f"{error.filename or folder} cannot be written: {error.strerror}.") from None
    compile_package()
    return receipt


def _make_folders(wanted: list[MakeFolder]) -> None:
    """All of them or none: until the receipt is written, nobody else would know whose they are."""
    made: list[Path] = []
    try:
        for action in wanted:
            files.make_folder(action.path, action.mode)
            made.append(action.path)
    except OSError:
        for path in reversed(made):
            files.remove_folder(path)
        raise


def _promised(actions: Iterable[Action]) -> list[receipts.Written]:
    entries: list[receipts.Written] = []
    for action in actions:
        match action:
            case MakeFolder(path=path):
                entries.append(FolderMade(str(path)))
            case PutFile(path=path, data=data, role=role, browsers=who):
                entries.append(FileWritten(str(path), files.sha256(data), role, who))
            case SetKey(hive=hive, key=key, value=value, browsers=who, made=made):
                entries += [KeyMade(hive, parent) for parent in made]
                entries.append(KeySet(hive, key, value, who))
            case PutOrigins(added=added):
                entries += [OriginAdded(one) for one in added]
    return entries


def _withdrawn(entry: receipts.Written, actions: Iterable[Action]) -> bool:
    gone = {one for action in actions if isinstance(action, PutOrigins) for one in action.removed}
    return isinstance(entry, OriginAdded) and entry.extension_id in gone


def _write(machine: Machine, action: Action) -> None:
    match action:
        case PutFile(path=path, data=data, mode=mode) | PutOrigins(path=path, data=data, mode=mode):
            if path.is_symlink():
                path.unlink()
            files.put(path, data, mode)
        case SetKey(hive=hive, key=key, value=value):
            if machine.registry is not None:
                machine.registry.write(hive, key, value)
        case MakeFolder():
            pass  # made before the lock, which lies on one of them


def compile_package() -> None:
    """Compiles the package: where Python may not write bytecode, each start would compile everything again."""
    for name in COMPILED:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            compileall.compile_dir(Path(spec.origin).parent, quiet=2)
