"""A state folder on a network drive or in a synchronised folder is named, a safe one never, and nobody waits for it."""

import json
import os
import time
from pathlib import Path

import pytest

from sidekeep.store import place
from support.damage import sidekeep
from support.stores import temporary_store

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 22 0:28 / /home/u/share rw - nfs4 nas:/export rw
32 22 0:29 / /mnt/with\040blank rw shared:3 master:2 - cifs //nas/share rw
33 22 0:30 / /home/u/cloud rw - fuse.rclone remote: rw
34 22 0:31 / /home/u/vault rw - fuse.gocryptfs /home/u/.vault rw
35 31 8:2 / /home/u/share/disk rw - xfs /dev/sdb1 rw
36 22 0:32 / /home/u/over rw - ext4 /dev/sdc1 rw
37 22 0:33 / /home/u/over rw - fuse.sshfs host: rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/u/.local/share/sidekeep", "ext4"),
        ("/home/u/share", "nfs4"),
        ("/home/u/share/state", "nfs4"),
        ("/home/u/shared", "ext4"),
        ("/home/u/share/disk/state", "xfs"),
        ("/mnt/with blank/state", "cifs"),
        ("/home/u/cloud/state", "fuse.rclone"),
        ("/home/u/vault/state", "fuse.gocryptfs"),
        ("/home/u/over/state", "fuse.sshfs"),
    ],
)
def test_which_file_system(path: str, kind: str) -> None:
    """The longest mount point above the path counts, of several at one place the last."""
    assert place.mount_type(MOUNTS, path) == kind


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.rclone", "fuse.sshfs", "9p"])
def test_network_kinds(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each kind of network drive gets the warning, which names it."""
    monkeypatch.setattr(place, "mount_type", lambda _mountinfo, _path: kind)
    (warning,) = place.warnings(str(tmp_path))
    assert warning["code"] == "network_folder"
    assert kind in warning["message"]


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "overlay", "tmpfs", "fuseblk", "fuse.gocryptfs", "zfs", ""])
def test_kinds_of_this_machine(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No warning for a disk of this machine."""
    monkeypatch.setattr(place, "mount_type", lambda _mountinfo, _path: kind)
    assert place.warnings(str(tmp_path)) == []


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path / "u"))
    (tmp_path / "u").mkdir()
    return tmp_path / "u"


@pytest.mark.parametrize(
    ("below", "mark", "program"),
    [
        ("Dropbox/apps", None, "Dropbox"),
        ("Dropbox (Work)/apps", None, "Dropbox"),
        ("OneDrive - Contoso/x", None, "OneDrive"),
        ("Library/Mobile Documents/com~apple~CloudDocs", None, "iCloud"),
        ("Library/CloudStorage/GoogleDrive-a@b", None, "cloud"),
        ("Nextcloud", None, "Nextcloud"),
        ("things/deep/down", "things/.stfolder", "Syncthing"),
        ("box", "box/.dropbox.cache", "Dropbox"),
        ("drive", "drive/.tmp.drivedownload", "Google Drive"),
    ],
)
def test_synchronised(user: Path, below: str, mark: str | None, program: str) -> None:
    """Each synchroniser is known by its folder's name or by what it leaves there."""
    state = user / below / "sidekeep"
    state.mkdir(parents=True)
    if mark:
        (user / mark).mkdir()
    (warning,) = place.warnings(str(state))
    assert warning["code"] == "synced_folder"
    assert program in warning["message"]


def test_told_by_dropbox(user: Path) -> None:
    """A Dropbox folder of any name is known from Dropbox's own file, which in the home folder is no mark itself."""
    (user / ".dropbox").mkdir()
    (user / ".dropbox" / "info.json").write_text(json.dumps({"personal": {"path": str(user / "stuff")}}))
    (user / "stuff" / "s").mkdir(parents=True)
    (user / ".local" / "share" / "sidekeep").mkdir(parents=True)
    assert [warning["code"] for warning in place.warnings(str(user / "stuff" / "s"))] == ["synced_folder"]
    assert place.warnings(str(user / ".local" / "share" / "sidekeep")) == []
    assert place.warnings(str(user / "stuffed")) == []


def test_by_a_link(user: Path) -> None:
    """A link into a synchronised folder does not hide it."""
    (user / "Dropbox" / "s").mkdir(parents=True)
    (user / "link").symlink_to(user / "Dropbox" / "s")
    assert [warning["code"] for warning in place.warnings(str(user / "link"))] == ["synced_folder"]


def test_the_panel_is_told(tmp_path: Path) -> None:
    """`store.ready` and `storage.status` carry the warning where there is one, and nothing where there is none."""
    with temporary_store(tmp_path / "Dropbox" / "state") as store:
        host = store.open()
        told = host.seen("store.ready")[0]["warnings"]
        assert [warning["code"] for warning in told] == ["synced_folder"]
        assert host.query("storage.status")["warnings"] == told
    with temporary_store(tmp_path / "state") as store:
        host = store.open()
        assert "warnings" not in host.seen("store.ready")[0]
        assert "warnings" not in host.query("storage.status")


def test_the_shell_is_told(tmp_path: Path) -> None:
    """`sidekeep status` says it to people and to scripts, and `doctor` beside what it finds."""
    state = tmp_path / "Nextcloud" / "state"
    with temporary_store(state) as store:
        store.open()
        assert "synchronises" in sidekeep(state, "status").stdout
        told = json.loads(sidekeep(state, "status", "--json").stdout)["warnings"]
        assert [warning["code"] for warning in told] == ["synced_folder"]
        assert told[0]["message"] in json.loads(sidekeep(state, "doctor", "--json").stdout)["notes"]


def test_nobody_waits(tmp_path: Path) -> None:
    """Telling takes a small part of a start: under 20 ms in the median of 20 looks."""
    looks = []
    for _ in range(20):
        began = time.perf_counter()
        place.warnings(os.fspath(tmp_path))
        looks.append(time.perf_counter() - began)
    assert sorted(looks)[10] < 0.02
