"""Where things lie in a checkout; standard library only."""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
EXTENSION = ROOT / "extension"
BUILT_EXTENSION = EXTENSION / "dist"
SAMPLE = ROOT / "scripts" / "sample"
OWN = ROOT / ".sidekeep"
LOGS = OWN / "logs"


def program(name: str) -> str:
    """A command of the virtual environment."""
    return str(PYTHON.with_name(name))


def state_dir() -> Path:
    """The state folder of `scripts/start`: SIDEKEEP_STATE, else one inside the checkout."""
    told = os.environ.get("SIDEKEEP_STATE")
    return Path(told).expanduser().absolute() if told else OWN / "state"


def profile_dir(state: Path) -> Path:
    """The browser profile that belongs to a state folder: a registration is for one of each."""
    if state == OWN / "state":
        return OWN / "profile"
    return OWN / f"profile-{hashlib.sha256(os.fsencode(state)).hexdigest()[:8]}"


def clean_environment() -> dict[str, str]:
    """This process's variables without those that make Python's starts slow or its imports different."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SIDEKEEP_STATE")
    return {name: value for name, value in os.environ.items() if name not in dropped}
