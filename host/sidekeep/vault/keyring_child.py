"""The child that talks to the OS keyring: one JSON request on its input, one JSON answer on its output.

Only keyrings of the operating system are used: `keyring` also knows files in clear, and whatever plug-ins
are installed.
"""

import importlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

SERVICE = "sidekeep"
_BACKENDS = {
    "darwin": (("macOS", "Keyring"),),
    "win32": (("Windows", "WinVaultKeyring"),),
}
_FREE_DESKTOPS = (("SecretService", "Keyring"), ("kwallet", "DBusKeyring"), ("libsecret", "Keyring"))


def main() -> None:
    """Answer `{"key": base64}`, `{}` for a delete that is done, or `{"why": text}`."""
    output = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)  # whatever a backend prints is no answer
    request = json.loads(_all_of(0))
    try:
        answer = _answer(request)
    except Exception as error:  # every backend has its own
        answer = {"why": f"{type(error).__name__}: {error}"[:300]}
    os.write(output, json.dumps(answer).encode())


def _all_of(fd: int) -> bytes:
    pieces = []
    while piece := os.read(fd, 65536):
        pieces.append(piece)
    return b"".join(pieces)


def _answer(request: dict[str, str]) -> dict[str, str]:
    why = "there is none"
    for backend in _backends():
        if request["do"] == "set":
            backend.set_password(SERVICE, request["id"], request["key"])
        elif request["do"] == "delete":
            backend.delete_password(SERVICE, request["id"])
            return {}
        found = backend.get_password(SERVICE, request["id"])
        if found is not None:
            return {"key": found}
        why = "it does not hold this vault's key"
    return {"why": why}


def _backends() -> Iterator[Any]:
    """Those of this system that can be reached, the usual one first."""
    for module, name in _BACKENDS.get(sys.platform, _FREE_DESKTOPS):
        backend = getattr(importlib.import_module(f"keyring.backends.{module}"), name)
        if backend.viable:
            yield backend()
