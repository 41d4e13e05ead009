"""The table of browsers: each row leads to the right place on each system."""

from pathlib import Path

import pytest

from sidekeep.install import browsers
from sidekeep.install.manifest import FILE_NAME, HOST_NAME
from sidekeep.install.targets import FileTarget, KeyTarget, choose
from sidekeep.model.errors import InvalidCommand, NotFound

LINUX = {
    "chrome": ("google-chrome", "etc/opt/chrome/native-messaging-hosts"),
    "chrome-beta": ("google-chrome-beta", "etc/opt/chrome/native-messaging-hosts"),
    "chrome-dev": ("google-chrome-unstable", "etc/opt/chrome/native-messaging-hosts"),
    "chrome-for-testing": ("google-chrome-for-testing", "etc/opt/chrome_for_testing/native-messaging-hosts"),
    "chromium": ("chromium", "etc/chromium/native-messaging-hosts"),
    "edge": ("microsoft-edge", "etc/opt/edge/native-messaging-hosts"),
    "edge-beta": ("microsoft-edge-beta", "etc/opt/edge/native-messaging-hosts"),
    "edge-dev": ("microsoft-edge-dev", "etc/opt/edge/native-messaging-hosts"),
    "brave": ("BraveSoftware/Brave-Browser", "etc/opt/chrome/native-messaging-hosts"),
    "brave-beta": ("BraveSoftware/Brave-Browser-Beta", "etc/opt/chrome/native-messaging-hosts"),
    "brave-nightly": ("BraveSoftware/Brave-Browser-Nightly", "etc/opt/chrome/native-messaging-hosts"),
    "vivaldi": ("vivaldi", "etc/opt/vivaldi/native-messaging-hosts"),
    "opera": ("opera", "etc/opt/chrome/native-messaging-hosts"),
}
MACOS = {
    "chrome": ("Google/Chrome", "Library/Google/Chrome/NativeMessagingHosts"),
    "chrome-beta": ("Google/Chrome Beta", "Library/Google/Chrome/NativeMessagingHosts"),
    "chrome-dev": ("Google/Chrome Dev", "Library/Google/Chrome/NativeMessagingHosts"),
    "chrome-canary": ("Google/Chrome Canary", "Library/Google/Chrome/NativeMessagingHosts"),
    "chromium": ("Chromium", "Library/Application Support/Chromium/NativeMessagingHosts"),
    "edge": ("Microsoft Edge", "Library/Microsoft/Edge/NativeMessagingHosts"),
    "edge-beta": ("Microsoft Edge Beta", "Library/Microsoft/Edge/NativeMessagingHosts"),
    "edge-dev": ("Microsoft Edge Dev", "Library/Microsoft/Edge/NativeMessagingHosts"),
    "edge-canary": ("Microsoft Edge Canary", "Library/Microsoft/Edge/NativeMessagingHosts"),
    "brave": ("BraveSoftware/Brave-Browser", "Library/Application Support/Chromium/NativeMessagingHosts"),
    "brave-beta": ("BraveSoftware/Brave-Browser-Beta", None),
    "brave-nightly": ("BraveSoftware/Brave-Browser-Nightly", None),
    "vivaldi": ("Vivaldi", "Library/Application Support/Vivaldi/NativeMessagingHosts"),
    "opera": ("com.operasoftware.Opera", None),
    "opera-gx": ("com.operasoftware.OperaGX", None),
    "arc": ("Arc/User Data", "Library/Application Support/Arc/User Data/NativeMessagingHosts"),
    "helium": ("net.imput.helium", None),
}
WINDOWS = {
    "chrome": r"Software\Google\Chrome\NativeMessagingHosts",
    "chrome-beta": r"Software\Google\Chrome\NativeMessagingHosts",
    "chromium": r"Software\Chromium\NativeMessagingHosts",
    "edge": r"Software\Microsoft\Edge\NativeMessagingHosts",
    "edge-beta": r"Software\Microsoft\Edge\NativeMessagingHosts",
    "brave": r"Software\BraveSoftware\Brave-Browser\NativeMessagingHosts",
    "vivaldi": r"Software\Vivaldi\NativeMessagingHosts",
    "opera": r"Software\Google\Chrome\NativeMessagingHosts",
    "arc": r"Software\Google\Chrome\NativeMessagingHosts",
}


def paths(machine, name: str, *, system: bool = False) -> list[Path]:
    targets, _ = choose(machine, [name], [], system=system)
    return [target.path for target in targets if isinstance(target, FileTarget)]


@pytest.mark.parametrize("name", LINUX)
def test_linux_places(name, make_machine):
    """B07: on Linux each browser reads the manifest from the folder that we write to, for one user and for all."""
    machine = make_machine("linux")
    user, system = LINUX[name]
    assert paths(machine, name) == [machine.home / ".config" / user / "NativeMessagingHosts" / FILE_NAME]
    assert paths(machine, name, system=True) == [machine.root / system / FILE_NAME]


@pytest.mark.parametrize("name", MACOS)
def test_macos_places(name, make_machine):
    """B07: on macOS likewise, spaces in names and all."""
    machine = make_machine("macos")
    user, system = MACOS[name]
    support = machine.home / "Library" / "Application Support"
    assert paths(machine, name) == [support / user / "NativeMessagingHosts" / FILE_NAME]
    assert paths(machine, name, system=True) == ([machine.root / system / FILE_NAME] if system else [])


def test_chrome_for_testing_on_macos_has_two_spellings(make_machine):
    """Its data folder and the folder that it reads differ by spaces: both are written."""
    machine = make_machine("macos")
    assert [path.parent.parent.name for path in paths(machine, "chrome-for-testing")] == [
        "ChromeForTesting",
        "Chrome for Testing",
    ]


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize(("system", "hive"), [(False, "HKCU"), (True, "HKLM")])
def test_windows_keys(name, system, hive, make_machine):
    """B07: on Windows the default value of a sub-key named after the host is what counts."""
    targets, _ = choose(make_machine("windows"), [name], [], system=system)
    assert targets == [KeyTarget(hive, WINDOWS[name] + "\\" + HOST_NAME, (name,))]


FIREFOXES = {
    "firefox": [".mozilla", ".config/mozilla"],
    "librewolf": [".librewolf", ".mozilla"],
    "waterfox": [".waterfox"],
    "zen": [".zen", ".mozilla"],
    "floorp": [".floorp"],
}


@pytest.mark.parametrize("name", FIREFOXES)
def test_firefox_rows_are_data_only(name, make_machine):
    """B07: the Firefox family's places are known, and none of them is ever written to."""
    machine = make_machine("linux")
    row = next(row for row in browsers.table().browser if row.name == name)
    assert row.linux is not None
    assert [machine.path(folder) for folder in row.linux.user] == [
        machine.home / folder / "native-messaging-hosts" for folder in FIREFOXES[name]
    ]
    (machine.home / FIREFOXES[name][0]).mkdir(parents=True)
    assert browsers.present(machine) == []


def test_every_row_is_in_a_table_above():
    """A row that is added without its test fails here."""
    for row in browsers.table().browser:
        if row.family == "firefox":
            assert row.name in FIREFOXES
            continue
        assert (row.linux is None) == (row.name not in LINUX)
        assert (row.macos is None) == (row.name not in MACOS and row.name != "chrome-for-testing")
        assert row.windows is None or row.windows.keys[0] in WINDOWS.values()


def test_xdg_config_home_is_honoured(make_machine, tmp_path):
    """B07: Chromium derives its folder from XDG_CONFIG_HOME, and so does the installer; a relative one is none."""
    machine = make_machine(XDG_CONFIG_HOME=str(tmp_path / "elsewhere"))
    assert paths(machine, "chromium")[0].is_relative_to(tmp_path / "elsewhere" / "chromium")
    assert paths(make_machine(XDG_CONFIG_HOME="relative"), "chromium")[0].is_relative_to(machine.home / ".config")


def test_user_data_dir_is_the_parent_of_the_manifest_folder(machine, tmp_path):
    """B08: with --user-data-dir the browser reads D/NativeMessagingHosts, not the profile's folder."""
    targets, _ = choose(machine, [], [tmp_path / "data"], system=False)
    assert targets == [
        FileTarget(tmp_path / "data" / "NativeMessagingHosts" / FILE_NAME, (f"folder {tmp_path / 'data'}",))
    ]


def test_only_present_browsers_are_chosen_by_themselves(machine, tmp_path):
    """Nobody gets a registration for a browser that is not there."""
    with pytest.raises(NotFound, match="--browser"):
        choose(machine, [], [], system=False)
    (machine.home / ".config" / "vivaldi").mkdir(parents=True)
    targets, _ = choose(machine, [], [], system=False)
    assert [target.browsers for target in targets] == [("vivaldi",)]


def test_a_program_on_the_path_is_present_but_a_snap_is_not(make_machine, tmp_path):
    """B25: /snap/bin/chromium is the wrapper of a browser that cannot start a host."""
    for folder in ("bin", "snap"):
        program = tmp_path / folder / "chromium"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    assert [row.name for row in browsers.present(make_machine(PATH=str(tmp_path / "bin")))] == ["chromium"]
    assert browsers.present(make_machine(PATH=str(tmp_path / "snap"))) == []


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("home/.local/share/flatpak/app/org.chromium.Chromium", "Chromium is a Flatpak"),
        ("root/var/lib/flatpak/app/com.google.Chrome", "Google Chrome is a Flatpak"),
        ("root/snap/chromium", "Chromium is a Snap"),
        ("root/var/lib/snapd/snap/firefox", "Firefox is a Snap"),
    ],
)
def test_sandboxed_browsers_are_named(folder, sentence, machine, tmp_path):
    """B25: a Flatpak or Snap is explained in one sentence, and not written to."""
    (tmp_path / folder).mkdir(parents=True)
    assert [note for note in browsers.warnings(machine) if note.startswith(sentence)]
    assert browsers.present(machine) == []


def test_linux_inside_windows_is_said(machine):
    """B27: a browser on the Windows side does not see a Linux registration, and the plan says so."""
    (machine.root / "proc").mkdir()
    (machine.root / "proc" / "version").write_text("Linux version 5.15.0-microsoft-standard-WSL2")
    assert any("Windows side" in note for note in browsers.warnings(machine))


def test_unknown_and_unsupported_browsers_are_refused_by_name(make_machine):
    """The refusal names the browsers that can be had."""
    with pytest.raises(InvalidCommand, match=r"netscape.*chromium"):
        browsers.named("netscape", make_machine())
    with pytest.raises(InvalidCommand, match="Firefox cannot load this extension"):
        browsers.named("firefox", make_machine())
    with pytest.raises(InvalidCommand, match="Arc does not exist for linux"):
        browsers.named("arc", make_machine())
