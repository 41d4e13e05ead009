"""A real store, made once by a host's own commands, and a copy of it for each test."""

from pathlib import Path
from typing import Any

import pytest

from support.damage import copy_store, make_store


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The ids of what is in the store, by name; `state` is its folder."""
    state = tmp_path_factory.mktemp("made") / "state"
    return {**make_store(state), "state": state}


@pytest.fixture
def state(made: dict[str, Any], tmp_path: Path) -> Path:
    """A copy of the store, to be damaged."""
    return copy_store(made["state"], tmp_path / "state")
