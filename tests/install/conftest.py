"""Machines of all three systems whose home, root and registry lie in a temporary folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidekeep.install.machine import Machine, System
from support.registry import MemoryRegistry


@pytest.fixture
def registry() -> MemoryRegistry:
    return MemoryRegistry()


@pytest.fixture
def make_machine(tmp_path: Path, registry: MemoryRegistry):
    """A machine of the named system with an empty home."""

    def make(system: System = "linux", uid: int | None = None, **environ: str) -> Machine:
        for folder in ("home", "root"):
            (tmp_path / folder).mkdir(exist_ok=True)
        return Machine(
            system=system,
            home=tmp_path / "home",
            environ={"PATH": "", **environ},
            root=tmp_path / "root",
            uid=os.getuid() if uid is None and system != "windows" else uid,
            registry=registry if system == "windows" else None,
        )

    return make


@pytest.fixture
def machine(make_machine) -> Machine:
    return make_machine()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state"


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask-000", "umask-022", "umask-077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every entry below a folder: its mode and its bytes."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, b"" if path.is_dir() else path.read_bytes())
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def snapshot(tmp_path: Path):
    """What lies in home and root just now."""
    return lambda: tree(tmp_path)
