"""Where things lie, and that nobody else can read them, whatever the umask."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidekeep.model import places
from sidekeep.model.places import Places, private_file, private_folder


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Every kind of umask that a browser may have been started with."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_folders_are_0700_and_files_0600_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    """State folder 0700, files 0600 whatever the umask (B15)."""
    state = tmp_path / "state"
    found = Places(str(state)).make()
    folders = [state, *(path for path in state.rglob("*") if path.is_dir())]
    assert len(folders) >= 6
    assert {mode(folder) for folder in folders} == {0o700}
    descriptor = private_file(os.path.join(found.logs, "x.log"))
    os.close(descriptor)
    assert mode(os.path.join(found.logs, "x.log")) == 0o600


def test_a_folder_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    """A state folder made by hand, or unpacked, becomes private."""
    state = tmp_path / "state"
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    (state / "live").mkdir()
    (state / "live").chmod(0o755)
    Places(str(state)).make()
    assert mode(state) == mode(state / "live") == 0o700


def test_a_file_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    """The same for what is written again."""
    path = tmp_path / "f"
    path.write_text("")
    path.chmod(0o666)
    os.close(private_file(str(path)))
    assert mode(path) == 0o600


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    """Nothing is written through what is no folder of this user."""
    (tmp_path / "state").write_text("")
    with pytest.raises(PermissionError):
        private_folder(str(tmp_path / "state"))


def test_the_state_folder_is_the_one_of_platformdirs(tmp_path: Path) -> None:
    """SIDEKEEP_STATE, else platformdirs' user data folder: worked out by hand, the same on every road."""
    code = (
        "import json, platformdirs\nfrom sidekeep.model.places import state_dir\n"
        "print(json.dumps([state_dir(), platformdirs.user_data_dir('sidekeep', False)]))"
    )
    import json

    for environment in ({"HOME": str(tmp_path)}, {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "x y")},
                        {"HOME": str(tmp_path), "XDG_DATA_HOME": "relative"}):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=30
        )
        ours, theirs = json.loads(done.stdout)
        if environment.get("XDG_DATA_HOME") != "relative":
            assert ours == theirs
        assert os.path.isabs(ours)


def test_the_home_is_found_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """B20: with HOME unset the OS is asked."""
    import pwd

    for told in (None, "", "relative/home"):
        if told is None:
            monkeypatch.delenv("HOME", raising=False)
        else:
            monkeypatch.setenv("HOME", told)
        assert places.home() == pwd.getpwuid(os.getuid()).pw_dir


def test_a_runtime_folder_that_another_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The open key lies in the runtime folder: one that others can write to, or a link, is passed over."""
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    link = tmp_path / "link"
    tight = tmp_path / "tight"
    tight.mkdir(mode=0o700)
    link.symlink_to(tight)
    for told in (loose, link, tmp_path / "missing"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(told))
        assert places.runtime_dir() != str(told)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tight))
    assert places.runtime_dir() == str(tight)


def test_a_socket_in_the_runtime_folder_has_a_short_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Socket paths have 104 bytes: the state's own path may be as long as it likes."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000000")
    found = Places("/a" * 400)
    assert len(os.path.join(found.runtime, "0" * 36)) < 104 + len(places.runtime_dir()) - len("/run/user/1000000")
    assert Places("/a").runtime != Places("/b").runtime


def test_one_store_has_one_runtime_folder_by_whichever_path(tmp_path: Path) -> None:
    """A link to the state folder leads to the same store, so its processes have to meet."""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert Places(str(tmp_path / "link")).runtime == Places(str(real)).runtime
