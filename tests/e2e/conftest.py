"""The real panel in a real Chromium, the real host and runner, the real local model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright, sync_playwright

from e2e.desk import Desk
from lib import chromium
from lib.checkout import BUILT_EXTENSION, SAMPLE
from lib.page_server import serve


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "e2e" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """Not longer than a module: tests elsewhere run event loops of their own."""
    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def program() -> str:
    found = chromium.find()
    assert found is not None, "no Chromium was found: ./scripts/test installs one"
    assert (BUILT_EXTENSION / "manifest.json").exists(), "the extension is not built: ./scripts/test builds it"
    return found


@pytest.fixture
def page_address() -> Iterator[str]:
    """The sample page, on this machine."""
    with serve(SAMPLE) as address:
        yield address


@pytest.fixture
def desk(playwright: Playwright, program: str, tmp_path: Path) -> Iterator[Desk]:
    found = Desk(playwright, tmp_path, program)
    try:
        yield found
    finally:
        found.clear()
