"""The machine that the installer writes to: its system, home, variables and registry, all of them replaceable.

Every path that the installer knows comes from here, so that one Linux machine can test the rows of all systems.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sidekeep.install.registry import Registry, windows_registry
from sidekeep.model import places

System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True)
class Machine:
    """What differs from one machine to the next; `root` stands for `/` in paths of the whole system."""

    system: System
    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    root: Path = Path("/")
    uid: int | None = None
    registry: Registry | None = None

    def folders(self) -> dict[str, Path]:
        """The folders that the templates of `browsers.toml` name."""

        def told(name: str, otherwise: Path) -> Path:
            value = self.environ.get(name, "")
            return Path(value) if Path(value).is_absolute() else otherwise

        return {
            "home": self.home,
            "config": told("XDG_CONFIG_HOME", self.home / ".config"),
            "support": self.home / "Library" / "Application Support",
            "local": told("LOCALAPPDATA", self.home / "AppData" / "Local"),
            "roaming": told("APPDATA", self.home / "AppData" / "Roaming"),
        }

    def path(self, template: str) -> Path:
        """A template of `browsers.toml` as a path of this machine."""
        plain = template.replace("\\", "/")
        if not plain.startswith("{"):
            return self.root / plain.lstrip("/")
        name, _, below = plain[1:].partition("}")
        return self.folders()[name] / below.lstrip("/")

    def on_path(self, program: str) -> bool:
        """Whether a program of this name lies on PATH (a Snap's wrapper is not the program), or an absolute one is."""
        if program.startswith("/"):
            return self.path(program).exists()
        folders = self.environ.get("PATH", os.defpath).split(os.pathsep)
        found = (Path(folder) / program for folder in folders if folder)
        return any(os.access(path, os.X_OK) and "snap" not in path.resolve().parts for path in found)

    @property
    def is_root(self) -> bool:
        return self.uid == 0

    @property
    def behind_sudo(self) -> bool:
        """Root for a moment only: what it writes would not be the user's own."""
        return self.is_root and self.environ.get("SUDO_UID", "0") != "0"

    @property
    def is_wsl(self) -> bool:
        """Linux inside Windows: the browsers over there do not see what is registered here."""
        try:
            told = (self.root / "proc/version").read_text(errors="replace")
        except OSError:
            return False
        return self.system == "linux" and "microsoft" in told.lower()


def this_machine() -> Machine:
    """The machine that this process runs on."""
    system: System = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")  # type: ignore[assignment]
    return Machine(
        system=system,
        home=Path(places.home()),
        environ=os.environ,
        uid=os.getuid() if sys.platform != "win32" else None,
        registry=windows_registry() if sys.platform == "win32" else None,
    )
