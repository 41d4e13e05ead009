"""Who may speak to the host: the extension's fixed id and what the user added."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.hostclient import HostClient, fixed_origin
from support.stores import Store

OTHER = "chrome-extension://" + "abcdefghijklmnop" * 2 + "/"


def refused(host: HostClient) -> None:
    assert host.wait_end(2) == 3
    assert [event["code"] for event in host.events] == ["forbidden_origin"]
    assert host.events[0]["type"] == "error"
    assert host.events[0]["retryable"] is False
    assert len(host.frame_sizes) == 1
    assert host.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [OTHER],
        [fixed_origin()[:-1]],
        [fixed_origin() + "sidepanel.html"],
        [fixed_origin().upper()],
        ["chrome-extension://*/"],
        ["https://example.org/"],
        ["--origin=" + fixed_origin()],
        ["", " "],
    ],
)
def test_without_an_accepted_origin_one_frame_one_line_and_status_3(store: Store, arguments: list[str]) -> None:
    """No argument that is an accepted origin → one frame `forbidden_origin`, one line on stderr, exit status 3."""
    refused(store.start(arguments=arguments))
    assert not (store.state / "sidekeep.db").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        [fixed_origin()],
        [fixed_origin(), "--parent-window=0"],
        ["--parent-window=132", fixed_origin()],
        ["/some/path/dev.sidekeep.host.json", fixed_origin()],
        [fixed_origin(), "--reconnect-command=abc", "whatever", OTHER],
    ],
)
def test_unknown_arguments_beside_the_origin_are_ignored(store: Store, arguments: list[str]) -> None:
    """B19: any order and company of arguments enters stdio mode and prints nothing before the first frame."""
    assert store.start(arguments=arguments).initialize()["type"] == "initialized"


def test_an_origin_in_the_states_file_is_accepted(store: Store) -> None:
    """Accepted are the fixed id and those in `<state>/origins`, read before anything else (B04)."""
    refused(store.start(arguments=[OTHER]))
    (store.state / "origins").write_text(f"# added by hand\nnonsense\n  {OTHER}  # a developer's build\n")
    assert store.start(arguments=[OTHER]).initialize()["type"] == "initialized"
    assert store.start().initialize()["type"] == "initialized"


@pytest.mark.parametrize("line", ["chrome-extension://*/", "*", "http://localhost/", OTHER[:-1], OTHER + "x", "\x00"])
def test_a_line_that_is_no_origin_admits_nobody(store: Store, line: str) -> None:
    """Exact comparison of whole origins: a pattern or a prefix is nothing (CVE-2026-24052's class)."""
    (store.state / "origins").write_bytes(line.encode() + b"\n\xff\xfe\n")
    refused(store.start(arguments=[line.replace("\x00", "x")]))


def test_a_stranger_is_refused_without_waiting_for_its_words(store: Store) -> None:
    """The origin is judged before anything is read."""
    host = store.start(arguments=[OTHER])
    assert host.event("error")["code"] == "forbidden_origin"
    refused(host)


def test_the_command_prints_what_the_host_accepts(store: Store) -> None:
    """`sidekeep origins` and the host agree, the fixed one first."""
    (store.state / "origins").write_text(OTHER + "\n")
    done = subprocess.run(
        [str(Path(sys.executable).parent / "sidekeep"), "origins"],
        env={"SIDEKEEP_STATE": str(store.state)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == [fixed_origin(), OTHER]


def test_the_fixed_id_is_the_one_of_the_extensions_key(store: Store) -> None:
    """B03: the id derived from the extension's key is in the default list."""
    manifest = json.loads((Path(__file__).parents[2] / "extension" / "manifest.json").read_text())
    key = (Path(__file__).parents[2] / "manifests" / "extension-key.txt").read_text().strip()
    assert manifest.get("key", key) == key
    assert store.start(arguments=[fixed_origin()]).initialize()["type"] == "initialized"
