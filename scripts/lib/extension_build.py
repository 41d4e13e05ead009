"""Installs the extension's packages and builds it, each only when its inputs changed."""

import shutil
import subprocess

from lib.checkout import BUILT_EXTENSION, EXTENSION, ROOT
from lib.stamps import Stamp, digest
from lib.steps import Fault, Log, say

MODULES = EXTENSION / "node_modules"


def ensure_packages(log: Log) -> None:
    """The npm packages of the lock file. Raises Fault without Node 20 or without a network."""
    _check_node()
    stamp = Stamp(MODULES / ".installed", digest([EXTENSION / "package.json", EXTENSION / "package-lock.json"]))
    if stamp.holds():
        return
    say("Installing the extension's packages …")
    log.run(["npm", "ci", "--no-audit", "--no-fund"], "The extension's packages could not be installed.", cwd=EXTENSION)
    stamp.set()


def ensure(log: Log) -> None:
    """The built extension. Raises Fault when it cannot be built."""
    ensure_packages(log)
    stamp = Stamp(BUILT_EXTENSION / ".built", digest([EXTENSION, ROOT / "manifests"]))
    if stamp.holds():
        return
    say("Building the extension …")
    log.run(["npm", "run", "build"], "The extension could not be built.", cwd=EXTENSION)
    stamp.set()


def _check_node() -> None:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        raise Fault("Building the extension needs Node 20 or newer with npm, which is not installed.")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0] or 0) < 20:
        raise Fault(f"Building the extension needs Node 20 or newer; {node} is {version}.")
