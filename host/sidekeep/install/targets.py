"""Which registrations are asked for: browsers by name or presence, and folders given with --user-data-dir."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sidekeep.install import browsers
from sidekeep.install.machine import Machine
from sidekeep.install.manifest import FILE_NAME, HOST_NAME
from sidekeep.install.registry import Hive
from sidekeep.model.errors import NotFound


@dataclass(frozen=True)
class FileTarget:
    """A manifest in a folder that a browser reads; `browsers` name who reads it there."""

    path: Path
    browsers: tuple[str, ...]


@dataclass(frozen=True)
class KeyTarget:
    """A registry key whose default value names the manifest (Windows)."""

    hive: Hive
    key: str
    browsers: tuple[str, ...]


Target = FileTarget | KeyTarget


def choose(
    machine: Machine, names: Iterable[str], user_data_dirs: Iterable[Path], *, system: bool
) -> tuple[list[Target], list[str]]:
    """The registrations to make, each place once, and the notes of their browsers.

    Nothing named means the browsers that are present. Raises InvalidCommand for a name that cannot be registered,
    NotFound when nothing was named and nothing is present.
    """
    names, folders = list(names), list(user_data_dirs)
    chosen = [browsers.named(name, machine) for name in names]
    if not names and not folders:
        chosen = browsers.present(machine)
        if not chosen:
            raise NotFound(
                "No browser that can hold the extension was found: name one with --browser, "
                "or its folder with --user-data-dir."
            )
    readers: dict[Path | tuple[Hive, str], list[str]] = {}
    notes: list[str] = []
    for browser in chosen:
        places = browser.on(machine)
        if places is None:
            continue
        for place in _places(machine, places, system=system):
            readers.setdefault(place, []).append(browser.name)
        if places.note:
            notes.append(f"{browser.label}: {places.note}")
    for folder in folders:
        readers.setdefault(folder / "NativeMessagingHosts" / FILE_NAME, []).append(f"folder {folder}")
    found: list[Target] = [
        FileTarget(place, tuple(who)) if isinstance(place, Path) else KeyTarget(*place, tuple(who))
        for place, who in readers.items()
    ]
    return found, notes


def _places(machine: Machine, places: browsers.Locations, *, system: bool) -> list[Path | tuple[Hive, str]]:
    if machine.system == "windows":
        hive = "HKLM" if system else "HKCU"
        return [(hive, f"{key}\\{HOST_NAME}") for key in places.keys]
    folders = places.system if system else places.user
    return [machine.path(folder) / FILE_NAME for folder in folders]
