"""Installing and taking away again: what is written, with which modes, and what stays untouched."""

import json
from pathlib import Path

import pytest

from sidekeep.install import install, manifest, receipt, uninstall
from sidekeep.install.install import Request
from sidekeep.install.plan import MakeFolder, PutFile, PutOrigins
from sidekeep.model.errors import Conflict, InvalidCommand, NeedsPermission, NotFound
from sidekeep.wire.origins import EXTENSION_ID

OTHER = "abcdefghijklmnopabcdefghijklmnop"
THIRD = "ponmlkjihgfedcbaponmlkjihgfedcba"


@pytest.fixture(autouse=True)
def _no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling the package is the same for every test here; `test_launcher.py` has the one that does it."""
    monkeypatch.setattr(install, "compile_package", lambda: None)


def do(machine, state, **wanted):
    request = Request(state=state, **wanted)
    plan = install.make_plan(machine, request)
    install.carry_out(machine, request, plan)
    return plan


def undo(machine, state, *names, system=False):
    folder = install.program_folder(machine, state, system=system)
    removal = uninstall.make_removal(machine, folder, names)
    uninstall.carry_out(machine, state, folder, removal)
    return removal


def told(path: Path) -> dict:
    return json.loads(path.read_text())


@pytest.mark.parametrize("system", ["linux", "macos"])
def test_modes_whatever_the_umask(system, make_machine, state, umask):
    """B15: manifest 0644, launcher 0755, state folder 0700, receipt 0600, under any umask."""
    machine = make_machine(system)
    plan = do(machine, state, browsers=("chromium",))
    [written] = [action.path for action in plan.actions if isinstance(action, PutFile) and action.role == "manifest"]
    assert written.stat().st_mode & 0o777 == 0o644
    assert plan.launcher.stat().st_mode & 0o777 == 0o755
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "bin" / receipt.FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_the_plan_is_exactly_what_gets_written(machine, state, snapshot):
    """B16: what a dry run prints is what a real run writes, nothing else but the receipt of it."""
    before = snapshot()
    request = Request(state=state, browsers=("chrome", "chromium"), extension_ids=(OTHER,))
    plan = install.make_plan(machine, request)
    assert snapshot() == before
    install.carry_out(machine, request, plan)
    new = {name for name in snapshot() if name not in before}
    top = machine.home.parent
    planned = {str(action.path.relative_to(top)) for action in plan.actions if not isinstance(action, type(None))}
    assert new == planned | {"home/state/bin/install.json"}
    for action in plan.actions:
        if isinstance(action, PutFile | PutOrigins):
            assert action.path.read_bytes() == action.data
        else:
            assert isinstance(action, MakeFolder)


@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
@pytest.mark.parametrize("for_all", [False, True], ids=["user", "system"])
def test_uninstall_leaves_what_was_there_before(system, for_all, make_machine, state, snapshot, registry):
    """B09: after install and uninstall, files, folders and registry are byte for byte as before."""
    machine = make_machine(system, uid=0 if for_all and system != "windows" else None)
    (machine.home / "kept").write_text("mine")
    registry.keys[("HKCU", "Software")] = None
    before, keys = snapshot(), dict(registry.keys)
    names = ("chromium", "chrome", "edge")
    do(machine, state, browsers=names, extension_ids=() if for_all else (OTHER,), system=for_all)
    assert snapshot() != before
    assert system != "windows" or registry.keys != keys
    removal = undo(machine, state, system=for_all)
    assert removal.changed == []
    assert snapshot() == before
    assert registry.keys == keys


def test_a_store_outlives_its_registration(machine, state):
    """What the user has said stays: only the installer's own files go."""
    do(machine, state, browsers=("chromium",))
    (state / "sidekeep.db").write_text("conversations")
    undo(machine, state)
    assert [path.name for path in state.rglob("*")] == ["sidekeep.db"]


def test_windows_gets_one_manifest_and_default_values(make_machine, state, registry):
    """B05, B22, B23: each browser's key names the one manifest, which lists all extensions, in its default value."""
    plan = do(make_machine("windows"), state, browsers=("chrome", "edge", "opera"), extension_ids=(OTHER,))
    values = {key: value for key, value in registry.keys.items() if value is not None}
    path = state / "bin" / manifest.FILE_NAME
    assert values == {
        ("HKCU", r"Software\Google\Chrome\NativeMessagingHosts\dev.sidekeep.host"): str(path),
        ("HKCU", r"Software\Microsoft\Edge\NativeMessagingHosts\dev.sidekeep.host"): str(path),
    }
    assert told(path)["allowed_origins"] == [f"chrome-extension://{one}/" for one in sorted((OTHER, EXTENSION_ID))]
    assert told(path)["path"] == str(plan.launcher)
    assert plan.launcher.name == "sidekeep-host.bat"


def test_a_key_that_two_browsers_read_stays_until_both_go(make_machine, state, registry):
    """Opera reads Chrome's key: taking Opera away leaves Chrome registered."""
    machine = make_machine("windows")
    do(machine, state, browsers=("chrome",))
    do(machine, state, browsers=("opera",))
    undo(machine, state, "opera")
    assert registry.read("HKCU", r"Software\Google\Chrome\NativeMessagingHosts\dev.sidekeep.host")
    undo(machine, state, "chrome")
    assert not registry.keys
    assert not state.exists()


def test_another_key_of_the_same_name_is_not_touched(make_machine, state, registry):
    """B10: on Windows a foreign value is refused by name, and replaced only when asked."""
    key = r"Software\Google\Chrome\NativeMessagingHosts\dev.sidekeep.host"
    registry.write("HKCU", key, r"C:\other.json")
    with pytest.raises(Conflict, match=r"other\.json"):
        do(make_machine("windows"), state, browsers=("chrome",))
    do(make_machine("windows"), state, browsers=("chrome",), take_over=True)
    assert registry.read("HKCU", key) == str(state / "bin" / manifest.FILE_NAME)


def foreign(machine) -> Path:
    path = machine.home / ".config" / "chromium" / "NativeMessagingHosts" / manifest.FILE_NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(manifest.build(Path("/opt/other/sidekeep-host"), [OTHER]))
    return path


def test_a_foreign_manifest_is_refused_by_name(machine, state, snapshot):
    """B10: another checkout's registration is neither stolen nor destroyed; the refusal says whose it is."""
    path = foreign(machine)
    before = snapshot()
    with pytest.raises(Conflict, match="/opt/other/sidekeep-host") as refused:
        do(machine, state, browsers=("chromium",))
    assert str(path) in refused.value.message
    assert snapshot() == before
    do(machine, state, browsers=("chromium",), take_over=True)
    assert told(path)["path"] == str(state / "bin" / "sidekeep-host")


def test_a_link_in_the_manifests_place_is_foreign(machine, state, tmp_path):
    """A link is somebody's arrangement: it is refused, and taking over replaces the link, not what it leads to."""
    target = tmp_path / "elsewhere.json"
    target.write_text("{}")
    path = machine.home / ".config" / "chromium" / "NativeMessagingHosts" / manifest.FILE_NAME
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    with pytest.raises(Conflict):
        do(machine, state, browsers=("chromium",))
    do(machine, state, browsers=("chromium",), take_over=True)
    assert not path.is_symlink()
    assert target.read_text() == "{}"


def test_uninstall_leaves_what_somebody_changed(machine, state):
    """B10: a file that is no longer as it was written stays, and is named."""
    plan = do(machine, state, browsers=("chromium", "chrome"))
    changed, other = [action.path for action in plan.actions if isinstance(action, PutFile) and action.browsers]
    changed.write_text("{}")
    removal = undo(machine, state)
    assert [str(changed) in line for line in removal.changed] == [True]
    assert changed.read_text() == "{}"
    assert not other.exists()


def test_installing_again_writes_nothing(machine, state, snapshot):
    """A second run is told that nothing is to be done, and does nothing."""
    do(machine, state, browsers=("chromium",))
    before = snapshot()
    plan = do(machine, state, browsers=("chromium",))
    assert plan.actions == []
    assert snapshot() == before


def test_what_a_person_removed_does_not_come_back(machine, state):
    """An installation that is brought up to date leaves alone what somebody took away or changed."""
    plan = do(machine, state, browsers=("chromium", "chrome"))
    gone, kept = [action.path for action in plan.actions if isinstance(action, PutFile) and action.browsers]
    gone.unlink()
    do(machine, state, browsers=(kept.parent.parent.name.removeprefix("google-"),), extension_ids=(OTHER,))
    assert not gone.exists()
    assert f"chrome-extension://{OTHER}/" in told(kept)["allowed_origins"]


def test_extensions_are_added_to_all_registrations_and_removed_again(machine, state):
    """B04: --extension-id adds to what is accepted, in every manifest and in the host's own list."""
    origins = state / "origins"
    plan = do(machine, state, browsers=("chromium", "chrome"), extension_ids=(OTHER,))
    written = [action.path for action in plan.actions if isinstance(action, PutFile) and action.browsers]
    do(machine, state, browsers=("chromium",), extension_ids=(THIRD,))
    expected = [f"chrome-extension://{one}/" for one in sorted((OTHER, THIRD, EXTENSION_ID))]
    assert [told(path)["allowed_origins"] for path in written] == [expected, expected]
    assert origins.read_text().splitlines() == [f"chrome-extension://{OTHER}/", f"chrome-extension://{THIRD}/"]
    do(machine, state, browsers=("chromium",), remove_extension_ids=(OTHER,))
    assert OTHER not in written[1].read_text() + origins.read_text()
    with pytest.raises(InvalidCommand, match="own extension"):
        do(machine, state, browsers=("chromium",), remove_extension_ids=(EXTENSION_ID,))


def test_uninstall_takes_only_the_extensions_that_it_added(machine, state):
    """The user's own lines and comments in the origins file stay as they are."""
    state.mkdir(parents=True)
    mine = f"# mine\nchrome-extension://{THIRD}/\n"
    (state / "origins").write_text(mine)
    do(machine, state, browsers=("chromium",), extension_ids=(OTHER, THIRD))
    undo(machine, state)
    assert (state / "origins").read_text() == mine


def test_one_browser_can_be_taken_away(machine, state, snapshot):
    """Uninstalling for one browser leaves the others working; the last one takes the launcher with it."""
    before = snapshot()
    do(machine, state, browsers=("chromium", "chrome"))
    undo(machine, state, "chrome")
    assert not (machine.home / ".config" / "google-chrome").exists()
    assert (state / "bin" / "sidekeep-host").exists()
    with pytest.raises(NotFound, match="chrome"):
        undo(machine, state, "chrome")
    undo(machine, state, "chromium")
    assert snapshot() == before


def test_an_interrupted_installation_can_be_taken_away(machine, state, snapshot, monkeypatch):
    """A crash after any write leaves a receipt that names what is there."""
    before = snapshot()
    request = Request(state=state, browsers=("chromium", "chrome", "edge"), extension_ids=(OTHER,))
    count = len(install.make_plan(machine, request).actions)
    real = install._write
    for crash_at in range(count):
        left = iter(range(count))

        def crashing(machine, action, left=left, crash_at=crash_at):
            if next(left) == crash_at:
                raise KeyboardInterrupt
            real(machine, action)

        monkeypatch.setattr(install, "_write", crashing)
        with pytest.raises(KeyboardInterrupt):
            do(machine, state, browsers=request.browsers, extension_ids=(OTHER,))
        undo(machine, state)
        assert snapshot() == before


def test_sudo_without_system_is_refused(make_machine, state):
    """B14: under sudo the registration would land in root's home, or leave root's files in the user's."""
    machine = make_machine(uid=0, SUDO_UID="1000")
    with pytest.raises(NeedsPermission, match="without sudo"):
        do(machine, state, browsers=("chromium",))
    do(machine, state, user_data_dirs=(machine.home / "data",))
    do(make_machine(uid=0), state, browsers=("chromium",))


def test_system_needs_root(make_machine, state):
    """Only root may register for everybody."""
    with pytest.raises(NeedsPermission, match="sudo"):
        do(make_machine(uid=1000), state, browsers=("chromium",), system=True)


def test_a_damaged_receipt_is_not_guessed_at(machine, state):
    """Without knowing what was ours nothing is removed."""
    do(machine, state, browsers=("chromium",))
    (state / "bin" / receipt.FILE_NAME).write_text("{")
    with pytest.raises(InvalidCommand, match="receipt"):
        undo(machine, state)


def test_a_folder_that_cannot_be_written_is_named(machine, state, snapshot):
    """The refusal says which folder, and nothing is left half done."""
    (machine.home / ".config").write_text("a file")
    before = snapshot()
    with pytest.raises(NeedsPermission, match=r"\.config cannot be written"):
        do(machine, state, browsers=("chromium",))
    assert snapshot() == before
