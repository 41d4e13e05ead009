"""A store of its own for each test, with a vault that asks no keyring unless the test says so."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sidekeep.model.places import Places
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.vault import Vault

# Played over D-Bus, which is the keyring's way on Linux alone.
collect_ignore = [] if sys.platform == "linux" else ["test_keyring.py"]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv("SIDEKEEP_VAULT", "file")
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return Places(str(tmp_path / "state")).make()


@pytest.fixture
def vault(places: Places) -> Vault:
    return Vault(places)


@pytest.fixture
def doorway(places: Places) -> Iterator[Doorway]:
    with closing(open_store(places)) as store:
        yield Doorway(store)
