"""Fixtures of the black-box tests; a folder's conftest imports what it wants."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hostclient import HostClient
from support.stores import Store, temporary_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of this test's own, whose runner is held back."""
    with temporary_store(tmp_path / "state") as found:
        yield found


@pytest.fixture
def running_store(tmp_path: Path) -> Iterator[Store]:
    """A store of this test's own on which a runner works."""
    with temporary_store(tmp_path / "state", runner=True) as found:
        yield found


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostClient]:
    """One host for the tests of a module, each of which uses threads of its own."""
    with temporary_store(tmp_path_factory.mktemp("shared") / "state") as found:
        yield found.open()
