"""How every command ends: one sentence or one document, the right status, never a traceback."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("words", [("nonsense",), ("status", "--nonsense"), ("show",), ("threads", "--limit", "many")])
def test_wrong_usage_is_status_2_and_a_sentence(sidekeep: Callable, words: tuple[str, ...]) -> None:
    done = sidekeep(*words)
    assert (done.status, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err
    assert sidekeep(*words, "--json").document["error"]["code"] == "usage"


def test_a_fault_of_our_own_is_logged_in_the_named_store(tmp_path: Path, sidekeep: Callable) -> None:
    """One sentence that says where the details are: beside the store that was asked for, not in the user's own."""
    state = tmp_path / "state"
    (state / "sidekeep.db").mkdir(parents=True)
    (state / "hosts").write_text("no folder")
    done = sidekeep("status", "--json")
    assert done.status == 1
    log = state / "logs" / "cli.log"
    assert str(log) in done.document["error"]["message"]
    assert "Traceback" in log.read_text()
    assert not (tmp_path / "home" / ".local").exists()


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path, sidekeep: Callable) -> None:
    """`sidekeep protocol | head -1` ends quietly."""
    import subprocess
    import sys

    program = Path(sys.executable).parent / "sidekeep"
    done = subprocess.run(f"{program} protocol --schema | head -1", shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")
