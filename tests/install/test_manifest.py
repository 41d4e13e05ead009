"""The manifest: what we build is what browsers read, and what they would ignore is named."""

import base64
import hashlib
import json
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from sidekeep.install import manifest
from sidekeep.model.errors import InvalidCommand
from sidekeep.wire.origins import EXTENSION_ID

OTHER = "abcdefghijklmnopabcdefghijklmnop"


def test_built_manifest_is_read_by_the_browser():
    """B02, B04, B23: UTF-8 without a mark, the last slash in each origin, every id listed once, in order."""
    data = manifest.build(PurePosixPath("/opt/ünïcode/sidekeep-host"), [EXTENSION_ID, OTHER, OTHER])
    assert data[:1] == b"{"
    assert json.loads(data.decode("utf-8")) == {
        "name": "dev.sidekeep.host",
        "description": manifest.DESCRIPTION,
        "path": "/opt/ünïcode/sidekeep-host",
        "type": "stdio",
        "allowed_origins": [f"chrome-extension://{OTHER}/", f"chrome-extension://{EXTENSION_ID}/"],
    }
    assert manifest.fault(data, manifest.FILE_NAME) is None


def test_windows_paths_keep_their_backslashes():
    """B22: forward slashes make cmd.exe fail."""
    data = manifest.build(PureWindowsPath("C:/Users/Zoë/sidekeep-host.bat"), [EXTENSION_ID])
    assert json.loads(data)["path"] == "C:\\Users\\Zoë\\sidekeep-host.bat"


def test_a_path_that_is_not_text_is_refused():
    """A manifest is UTF-8: a launcher below a folder of other bytes cannot be named in it."""
    with pytest.raises(InvalidCommand, match="--state"):
        manifest.build(PurePosixPath("/tmp/\udcff/sidekeep-host"), [EXTENSION_ID])


@pytest.mark.parametrize(
    "text",
    ["", "x", EXTENSION_ID[:-1], EXTENSION_ID.upper(), "q" * 32, f"http://{EXTENSION_ID}/", "*", EXTENSION_ID + "a"],
)
def test_what_is_no_extension_id_is_refused(text):
    """B02: one bad entry makes a browser ignore the whole manifest, so none gets in."""
    with pytest.raises(InvalidCommand, match="extension id"):
        manifest.checked_id(text)


def test_an_origin_is_taken_for_its_id():
    """People paste what they see: both forms name the same extension."""
    assert manifest.checked_id(f"chrome-extension://{OTHER}/") == OTHER


GOOD = json.loads(manifest.build(PurePosixPath("/x"), [OTHER]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "dev.sidekeep.other"}, "the file is"),
        ({"name": "Dev.Sidekeep"}, "no name of a native host"),
        ({"name": "dev..host"}, "no name of a native host"),
        ({"description": ""}, "no description"),
        ({"type": "pipe"}, "not stdio"),
        ({"path": ""}, "names no program"),
        ({"allowed_origins": []}, "allows no extension"),
        ({"allowed_origins": ["chrome-extension://*/"]}, "makes it invalid"),
        ({"allowed_origins": [f"chrome-extension://{OTHER}"]}, "makes it invalid"),
        ({"allowed_origins": [7]}, "makes it invalid"),
    ],
)
def test_what_a_browser_ignores_is_named(change, reason):
    """B01, B02: "host not found" has many causes; each gets its own sentence."""
    told = manifest.fault(json.dumps({**GOOD, **change}).encode(), manifest.FILE_NAME)
    assert told is not None
    assert reason in told


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf{}", b"[]", b"{", b"{'name': 1}", b"\xff\xfe"])
def test_what_is_no_json_object_is_named(data):
    """B23: a byte-order mark, another encoding or a comment makes it unreadable."""
    assert manifest.fault(data, manifest.FILE_NAME)


def test_the_id_comes_from_the_key_that_the_extension_carries():
    """B03: the id that hosts accept is the one that the extension's fixed key gives."""
    key = (Path(__file__).parents[2] / "manifests" / "extension-key.txt").read_text().strip()
    digits = hashlib.sha256(base64.b64decode(key)).hexdigest()[:32]
    assert "".join("abcdefghijklmnop"[int(digit, 16)] for digit in digits) == EXTENSION_ID
