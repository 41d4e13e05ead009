"""What administrators have forbidden: the policies that keep a Chromium browser from starting a native host."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from sidekeep.install import files
from sidekeep.install.browsers import Browser
from sidekeep.install.machine import Machine
from sidekeep.install.manifest import HOST_NAME


def forbidden(machine: Machine, browser: Browser, *, user_level: bool) -> str | None:
    """Why this browser may not start the host, in a sentence; None when no policy is against it.

    Reads the managed policies on Linux; elsewhere they are the system's own affair and nothing is said.
    """
    places = browser.on(machine)
    if places is None or machine.system != "linux":
        return None
    policies: dict[str, object] = {}
    source = ""
    for folder in places.policy:
        for path, found in _read(machine.path(folder)):
            policies.update(found)
            source = str(path)
    return _judge(policies, source, browser.label, user_level=user_level)


def _read(folder: Path) -> Iterator[tuple[Path, dict[str, object]]]:
    # In the browser's order: a later file overrides an earlier one.
    for path in sorted(folder.glob("*.json")):
        try:
            found = msgspec.json.decode(files.read(path) or b"null")
        except (msgspec.DecodeError, PermissionError):
            continue
        if isinstance(found, dict):
            yield path, found


def _judge(policies: dict[str, object], source: str, label: str, *, user_level: bool) -> str | None:
    if user_level and policies.get("NativeMessagingUserLevelHosts") is False:
        return (
            f"{label} is told by {source} to ignore hosts that a user registered: "
            "an administrator can register it with `sidekeep install --system`."
        )
    blocked = _names(policies.get("NativeMessagingBlocklist"))
    allowed = _names(policies.get("NativeMessagingAllowlist"))
    # A star in the allow-list does not bring back a host that is blocked by its name.
    if (HOST_NAME in blocked or "*" in blocked) and HOST_NAME not in allowed:
        return f"{label} is forbidden by {source} to start {HOST_NAME}: ask who manages this machine."
    return None


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []
