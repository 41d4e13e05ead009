"""The launcher: started as a browser starts it, from any folder name and with nothing in the environment."""

import json
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from sidekeep.install import install, launcher
from sidekeep.install.install import Request
from sidekeep.model.errors import InvalidCommand

# Stands where the host would: says what the launcher gave it.
PRINTS_ITSELF = (
    "import json, os, sys\n"
    "print(json.dumps({'argv': sys.argv[1:], 'state': os.environ.get('SIDEKEEP_STATE'), "
    "'flags': [sys.flags.isolated, sys.flags.no_site], 'python': sys.executable}))\n"
)

ODD_NAMES = [
    "plain",
    "with space",
    "qu'ote",
    'dou"ble',
    "dollar$HOME",
    "back`tick`",
    "semi;colon",
    "ünïcode 漢",
    "new\nline",
]


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([path, *arguments], env={}, cwd="/", capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_folder_names_survive_the_shell(name, tmp_path):
    """B17: whatever the folder is called, the launcher starts the absolute interpreter and passes its arguments on."""
    folder = tmp_path / name
    folder.mkdir()
    entry, path, state = folder / "entry.py", folder / "launcher", str(folder / "state")
    entry.write_text(PRINTS_ITSELF)
    path.write_bytes(launcher.shell_launcher(launcher.interpreter(), entry, state))
    path.chmod(0o755)
    done = run(path, "chrome-extension://x/", "a b", "--parent-window=0")
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told == {
        "argv": ["chrome-extension://x/", "a b", "--parent-window=0"],
        "state": state,
        "flags": [1, 1],
        "python": sys.executable,
    }


def test_without_a_baked_state_the_environment_decides(tmp_path):
    """The usual state folder is not written into the launcher, so that SIDEKEEP_STATE still counts."""
    entry, path = tmp_path / "entry.py", tmp_path / "launcher"
    entry.write_text(PRINTS_ITSELF)
    path.write_bytes(launcher.shell_launcher(launcher.interpreter(), entry, None))
    path.chmod(0o755)
    assert '"state": null' in run(path).stdout


@pytest.mark.parametrize("name", ["plain", "ünïcode 漢", "qu'ote"])
def test_the_entry_finds_the_package_and_its_dependencies(name, tmp_path):
    """B24: with -IS and an empty environment, everything that host and runner import is found where it was."""
    found = launcher.import_folders()
    odd = tmp_path / name
    odd.mkdir()
    (odd / "only_here.py").write_text("")
    entry = tmp_path / "entry.py"
    entry.write_bytes(launcher.entry([*found, str(odd)]).replace(b"from sidekeep.host.main import main", b"", 1))
    body = entry.read_text().replace(
        "sys.exit(main())",
        "import sidekeep, apsw, msgspec, cryptography, httpx, pydantic, only_here\nprint('all there')",
    )
    entry.write_text(body)
    done = subprocess.run(
        [launcher.interpreter(), "-IS", entry], env={}, cwd="/", capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("all there\n", "")


def test_the_entry_changes_nothing_but_the_path():
    """The host decides all else by itself; the entry sets the folders and calls it."""
    lines = [line for line in launcher.entry(["/a"]).decode().splitlines() if line and not line.startswith("#")]
    assert lines == ["import sys", "sys.path += ['/a']", "from sidekeep.host.main import main", "sys.exit(main())"]


def test_a_folder_that_may_vanish_is_warned_about():
    """B12, B18: a versioned or temporary interpreter dies with the next upgrade; a plain one says nothing."""
    assert launcher.interpreter_warning("/opt/homebrew/Cellar/python@3.11/3.11.7/bin/python3.11")
    assert launcher.interpreter_warning("/home/me/.cache/uv/env/bin/python")
    assert launcher.interpreter_warning("/usr/bin/python3.11") is None


def test_windows_launcher_is_ascii_and_finds_itself():
    """B22: cmd reads it in the OEM code page, so a user's name of other letters must not be in it."""
    here = PureWindowsPath("C:/Users/Zoë/AppData/Local/Sidekeep/bin/sidekeep-host.py")
    with pytest.raises(InvalidCommand, match="--state"):
        launcher.batch_launcher("D:\\Zoë\\python.exe", here, None)
    text = launcher.batch_launcher("python.exe", here, None).decode("ascii")
    assert text.startswith("@echo off\r\n")
    assert text.endswith('" -IS "%~dp0sidekeep-host.py" %*\r\n')


def test_installing_compiles_the_package(tmp_path, monkeypatch, machine, state):
    """Where Python may not write bytecode, each start would compile everything again: the installer does it once."""
    package = tmp_path / "sidekeep_copy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "module.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(install, "COMPILED", ("sidekeep_copy",))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    request = Request(state=state, browsers=("chromium",))
    install.carry_out(machine, request, install.make_plan(machine, request))
    assert sorted(path.name.split(".")[0] for path in (package / "__pycache__").iterdir()) == ["__init__", "module"]
