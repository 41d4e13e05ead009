"""The rooms of the host and the direction between them: an arrow that runs up fails here, naming both files."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "host" / "sidekeep"

#: What each room may import, besides itself; nothing below imports anything above.
MAY = {
    "model": set(),
    "wire": {"model"},
    "store": {"model"},
    "vault": {"model", "store"},
    "providers": {"model"},
    "commands": {"model", "store", "vault"},
    "turns": {"model", "store", "providers", "vault"},
    "sessions": {"model", "store"},
    "portability": {"model", "store", "vault"},
    "jobs": {"model", "store", "providers", "turns", "vault", "sessions", "portability"},
    "install": {"model", "store", "wire"},
    "host": {"model", "wire", "store", "vault", "commands"},
    "runner": {"model", "store", "vault", "providers", "turns", "jobs", "sessions"},
    "cli": {"model", "wire", "store", "vault", "install", "sessions", "portability", "commands"},
}
#: Each driver has one home; elsewhere it is not imported at all.
HOMES = {
    "apsw": {"store"},
    "cryptography": {"vault", "portability"},
    "keyring": {"vault"},
    "httpx": {"providers", "jobs"},
    "httpx_sse": {"providers"},
    "pygit2": {"sessions"},
    "cyllama": {"providers"},
    "pypdf": {"jobs"},
    "sqlite3": set(),
}
#: Programs that speak to their parent over their own standard descriptors.
CHILDREN = {"jobs/pdf_child.py", "providers/local_worker.py", "providers/local_protocol.py", "vault/keyring_child.py"}


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every module that a file imports, at its top or later."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            yield from (f"{module}.{name.name}" for name in node.names) if module == "sidekeep" else (module,)


def test_every_room_is_in_the_table() -> None:
    """A new room has to say what it may import."""
    rooms = {room_of(path) for path in files() if path.parent != PACKAGE}
    assert rooms <= set(MAY)


def test_no_arrow_runs_up() -> None:
    """The arrows of the design point down only."""
    wrong = []
    for path in files():
        if path.parent == PACKAGE:
            continue
        for name in imports(path):
            parts = name.split(".")
            if parts[0] != "sidekeep" or len(parts) < 2 or not (PACKAGE / parts[1]).is_dir():
                continue
            if parts[1] != room_of(path) and parts[1] not in MAY[room_of(path)]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("driver", sorted(HOMES))
def test_a_driver_has_one_home(driver: str) -> None:
    """Only `store` imports apsw, only `vault` (and what seals exports) cryptography, nobody sqlite3 (E16)."""
    wrong = [
        str(path.relative_to(PACKAGE))
        for path in files()
        for name in imports(path)
        if name.split(".")[0] == driver and room_of(path) not in HOMES[driver]
    ]
    assert wrong == []


def test_only_the_wire_touches_the_standard_descriptors() -> None:
    """Whoever prints in a host would break the port; the command line and children of our own have theirs."""
    wrong = []
    for path in files():
        where = path.relative_to(PACKAGE).as_posix()
        if room_of(path) in ("wire", "cli") or where in CHILDREN:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = isinstance(node, ast.Attribute) and node.attr in ("stdin", "stdout", "__stdin__", "__stdout__")
            if named and isinstance(node.value, ast.Name) and node.value.id == "sys":  # type: ignore[attr-defined]
                wrong.append(f"{where}:{node.lineno}")  # type: ignore[attr-defined]
    assert wrong == []


def test_files_say_their_job_and_stay_small() -> None:
    """The first line of a file says its job; a file has one job and under 400 lines (generated ones aside)."""
    for path in files():
        text = path.read_text("utf-8")
        assert text.startswith('"""'), path
        assert len(text.splitlines()) <= 450, f"{path} has grown to {len(text.splitlines())} lines: split it"
