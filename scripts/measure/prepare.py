"""`scripts/bench`, first half: installs and builds what is missing, then becomes a program of that environment."""

import os
import sys

from lib import chromium, extension_build, python_packages
from lib.checkout import PYTHON, ROOT, clean_environment
from lib.steps import Fault, Log, fail


def main() -> int:
    """Prepares as the tests do; 1 with a sentence when something cannot be had."""
    log = Log("bench")
    browser = ""
    try:
        if not {"--help", "-h"} & set(sys.argv):
            python_packages.ensure(log, dev=True)
            extension_build.ensure(log)
            browser = chromium.ensure(log)
        elif not PYTHON.exists():
            raise Fault("Run ./scripts/bench once without --help, or ./scripts/test: it makes the environment.")
    except Fault as fault:
        return fail(fault, log)
    paths = os.pathsep.join((str(ROOT / "scripts"), str(ROOT / "tests")))
    environment = {**clean_environment(), "PYTHONPATH": paths, "SIDEKEEP_CHROMIUM": browser}
    return os.execve(PYTHON, [str(PYTHON), "-m", "measure.main", *sys.argv[1:]], environment)
