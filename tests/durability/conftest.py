"""What the laboratory's classes share: a fast folder, and two sizes of everything."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from durability.long_images import fast_folder


@pytest.fixture
def bench() -> Iterator[Path]:
    """A folder in memory where there is one, as the laboratory models what a disk does."""
    folder = fast_folder()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
