"""Stores whose runner works, and a far end of the network that plays what a test tells it."""

from collections.abc import Iterator

import pytest

from support.fixtures import running_store, store
from support.scripted import ScriptedServer

__all__ = ["running_store", "server", "store"]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found
