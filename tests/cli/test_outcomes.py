"""How every command ends: one sentence or one document, the right status, never a traceback."""

import os
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
    state.mkdir()
    (state / "backups").write_text("no folder")
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


@pytest.mark.parametrize("words", [("status",), ("threads",), ("verify",), ("search", "x")])
def test_a_file_in_the_place_of_the_state_folder_is_named(tmp_path: Path, sidekeep: Callable, words: tuple) -> None:
    """No fault of ours and no empty history: wrong usage, with what to do."""
    (tmp_path / "file").write_text("")
    done = sidekeep(*words, state=tmp_path / "file")
    assert (done.status, done.out) == (2, "")
    assert "is no folder" in done.err


def test_a_path_that_no_database_can_have_is_told_of(tmp_path: Path, sidekeep: Callable) -> None:
    """Bytes that are no UTF-8, and a path longer than SQLite takes: a sentence, and JSON that is JSON."""
    for name in (os.fsdecode(b"caf\xe9"), "/".join(["x" * 200] * 3)):
        state = tmp_path / name
        state.mkdir(parents=True)
        (state / "sidekeep.db").touch()
        done = sidekeep("threads", state=state)
        assert (done.status, done.out) == (1, "")
        assert "SIDEKEEP_STATE" in done.err
        assert "SIDEKEEP_STATE" in sidekeep("status", "--json", state=state).document["error"]["message"]


def test_any_text_is_printed_in_any_locale(tmp_path: Path, sidekeep: Callable) -> None:
    """A terminal that lacks a character shows `?`; a document stays UTF-8."""
    state = tmp_path / "話"
    narrow = {"PYTHONIOENCODING": "ascii"}
    done = sidekeep("status", state=state, **narrow)
    assert done.status == 0
    assert f"{tmp_path}/?" in done.out
    assert sidekeep("status", "--json", state=state, **narrow).document["state"] == str(state)


@pytest.mark.parametrize("words", ["status", "status --json", "threads", "protocol --schema"])
def test_an_output_that_takes_nothing_is_told_of(tmp_path: Path, words: str) -> None:
    """A full disk behind `>`: a sentence and status 1; an output that is closed is nobody's fault."""
    import subprocess
    import sys

    program = f"{Path(sys.executable).parent / 'sidekeep'} {words}"
    where = {**os.environ, "SIDEKEEP_STATE": str(tmp_path / "state")}
    full = subprocess.run(f"{program} > /dev/full", shell=True, env=where, capture_output=True, text=True)
    told = (full.returncode, full.stderr)
    assert told == (1, "The output could not be written: No space left on device.\n")
    closed = subprocess.run(f"{program} >&-", shell=True, env=where, capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.parametrize("words", [("threads",), ("search", "x"), ("pages", "list")])
def test_a_limit_beyond_all_rows_is_wrong_usage(sidekeep: Callable, words: tuple[str, ...]) -> None:
    assert sidekeep(*words, "--limit", "99999999999999999999").status == 2
