"""`sidekeep uninstall`: takes away exactly what the receipt names and what is still as it was written."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sidekeep.install import files, origins_file
from sidekeep.install import receipt as receipts
from sidekeep.install.machine import Machine
from sidekeep.install.receipt import FileWritten, FolderMade, KeyMade, KeySet, OriginAdded, Receipt, Written
from sidekeep.model import places
from sidekeep.model.errors import NeedsPermission, NotFound


@dataclass
class Removal:
    """What goes, what stays in the receipt, and what is left where it lies because somebody changed it."""

    going: list[Written] = field(default_factory=list)
    staying: list[Written] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


def make_removal(machine: Machine, folder: Path, names: Iterable[str] = ()) -> Removal:
    """Works out what to take away: all of it, or the registrations that serve only these browsers.

    Raises NotFound when there is nothing of the kind.
    """
    receipt, wanted = receipts.load(folder), set(names)
    removal = Removal()
    if wanted:
        _split_by_browser(receipt, wanted, removal)
    else:
        removal.going = list(receipt.writes)
    if removal.staying == receipt.writes:
        what = f"for {', '.join(sorted(wanted))} " if wanted else ""
        raise NotFound(f"Nothing is registered {what}by the installation in {folder}.")
    for entry in removal.going:
        problem = _difference(machine, entry)
        if problem:
            removal.changed.append(problem)
    return removal


def _split_by_browser(receipt: Receipt, wanted: set[str], removal: Removal) -> None:
    for entry in receipt.writes:
        if not isinstance(entry, FileWritten | KeySet) or not wanted.intersection(entry.browsers):
            removal.staying.append(entry)
        elif wanted.issuperset(entry.browsers):
            removal.going.append(entry)
        else:
            others = tuple(name for name in entry.browsers if name not in wanted)
            if isinstance(entry, FileWritten):
                removal.staying.append(FileWritten(entry.path, entry.sha256, entry.role, others))
            else:
                removal.staying.append(KeySet(entry.hive, entry.key, entry.value, others))
    # The last registration takes the launcher and all else with it.
    serving = [entry for entry in removal.staying if isinstance(entry, FileWritten | KeySet) and entry.browsers]
    if removal.going and not serving:
        removal.going += removal.staying
        removal.staying = []


def _difference(machine: Machine, entry: Written) -> str | None:
    """Why an entry is left alone; None when it is as it was written, or gone already."""
    match entry:
        case FileWritten(path=path, sha256=known):
            now = files.read(Path(path))
            if now is not None and files.sha256(now) != known:
                return f"{path} was changed since and is left alone"
        case KeySet(hive=hive, key=key, value=value):
            found = machine.registry.read(hive, key) if machine.registry else None
            if found not in (None, value):
                return f"{hive}\\{key} was changed since and is left alone"
    return None


def carry_out(machine: Machine, state: Path, folder: Path, removal: Removal) -> None:
    """Takes away what the removal says: registrations first, so that no browser starts what is half gone.

    Raises NeedsPermission where a folder may not be written.
    """
    try:
        with files.one_at_a_time(folder):
            for entry in removal.going:
                if _difference(machine, entry) is None:
                    _remove(machine, entry, state)
            staying = [entry for entry in reversed(removal.staying) if not _emptied(entry, removal.going)]
            receipts.save(folder, Receipt(staying[::-1]))
            _remove_empty(machine, removal.going)
    except OSError as error:
        raise NeedsPermission(f"{error.filename or folder} cannot be removed: {error.strerror}.") from None


def _emptied(entry: Written, going: list[Written]) -> bool:
    """Whether this is a folder that only held what has gone; it is removed then."""
    if not isinstance(entry, FolderMade):
        return False
    held = [one for one in going if isinstance(one, FileWritten) and Path(one.path).is_relative_to(entry.path)]
    return bool(held) and files.remove_folder(Path(entry.path))


def _remove(machine: Machine, entry: Written, state: Path) -> None:
    match entry:
        case FileWritten(path=path):
            Path(path).unlink(missing_ok=True)
        case KeySet(hive=hive, key=key):
            if machine.registry is not None:
                machine.registry.remove_if_empty(hive, key)
        case OriginAdded(extension_id=extension_id):
            listed = Path(places.Places(str(state)).origins)
            data = origins_file.changed(listed, (), (extension_id,))
            if data:
                files.put(listed, data, 0o600)
            else:
                listed.unlink(missing_ok=True)


def _remove_empty(machine: Machine, going: list[Written]) -> None:
    """Folders and keys that the installation made, innermost first; one that others use by now stays."""
    for entry in reversed(going):
        match entry:
            case FolderMade(path=path):
                files.remove_folder(Path(path))
            case KeyMade(hive=hive, key=key):
                if machine.registry is not None:
                    machine.registry.remove_if_empty(hive, key)
