"""The table of browsers, `browsers.toml`: where each looks for native hosts, and which are on this machine."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from sidekeep.install.machine import Machine
from sidekeep.model.errors import InvalidCommand


class Locations(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One browser on one system; the templates are explained at the head of the table."""

    user: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    note: str = ""


class Browser(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One row of the table."""

    name: str
    label: str
    family: Literal["chromium", "firefox"]
    linux: Locations | None = None
    macos: Locations | None = None
    windows: Locations | None = None

    def on(self, machine: Machine) -> Locations | None:
        """The places on this system; None where the browser does not exist for it."""
        return {"linux": self.linux, "macos": self.macos, "windows": self.windows}[machine.system]

    def is_present(self, machine: Machine) -> bool:
        """Whether it has run for this user, or its program is installed."""
        places = self.on(machine)
        if places is None:
            return False
        return any(machine.path(folder).is_dir() for folder in places.data) or any(
            machine.on_path(program) for program in places.programs
        )


class Sandboxed(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A browser in a packaging that lets no program outside be started."""

    label: str
    packaging: Literal["Flatpak", "Snap"]
    app: str

    def is_present(self, machine: Machine) -> bool:
        """Whether this packaging is installed, for this user or for all."""
        if machine.system != "linux":
            return False
        if self.packaging == "Flatpak":
            found = (
                machine.home / ".local/share/flatpak/app" / self.app,
                machine.path("/var/lib/flatpak/app/" + self.app),
            )
        else:
            found = (machine.path("/snap/" + self.app), machine.path("/var/lib/snapd/snap/" + self.app))
        return any(folder.is_dir() for folder in found)

    @property
    def sentence(self) -> str:
        return (
            f"{self.label} is a {self.packaging} here, which may not start programs outside its sandbox: "
            f"use the {self.label} of your distribution's packages or of its maker instead."
        )


class Table(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    browser: tuple[Browser, ...]
    sandboxed: tuple[Sandboxed, ...]


@cache
def table() -> Table:
    """The table: beside this file in a built package, in `manifests/` of a checkout."""
    built = Path(__file__).with_name("browsers.toml")
    checkout = Path(__file__).parents[3] / "manifests" / "browsers.toml"
    text = (built if built.is_file() else checkout).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Table)


def named(name: str, machine: Machine) -> Browser:
    """The browser of this name.

    Raises InvalidCommand for one that is unknown, does not exist on this system, or cannot hold the extension.
    """
    rows = {browser.name: browser for browser in table().browser}
    known = ", ".join(row.name for row in rows.values() if row.family == "chromium" and row.on(machine))
    found = rows.get(name)
    if found is None:
        raise InvalidCommand(f"No browser is called {name}; known are {known}.")
    if found.family != "chromium":
        raise InvalidCommand(f"{found.label} cannot load this extension, so it is not registered: use {known}.")
    if found.on(machine) is None:
        raise InvalidCommand(f"{found.label} does not exist for {machine.system}; known are {known}.")
    return found


def present(machine: Machine) -> list[Browser]:
    """The browsers on this machine that can hold the extension."""
    return [row for row in table().browser if row.family == "chromium" and row.is_present(machine)]


def warnings(machine: Machine) -> list[str]:
    """One sentence for each thing about this machine's browsers that registering cannot mend."""
    told = [row.sentence for row in table().sandboxed if row.is_present(machine)]
    if machine.is_wsl:
        told.append("This is Linux inside Windows: browsers on the Windows side do not see what is registered here.")
    return told
