"""The way to the OS keyring: a child process with a deadline, so that no keyring can hang or load this process.

A keyring may show a dialog, or wait for a service that never answers, and its libraries cost more to import
than the host's whole start.
"""

import os
import sys
from base64 import b64decode, b64encode
from typing import Any

import msgspec

PATIENCE = 4.0
#: For a person who is asked by the keyring's own dialog.
LONG_PATIENCE = 60.0


class Unreachable(Exception):
    """The keyring did not answer, refused, or is not there; the text says which."""


def possible() -> bool:
    """Whether a keyring may be there at all; where this says no, nothing is started."""
    if os.environ.get("SIDEKEEP_VAULT") == "file":
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS")) or os.path.exists(f"/run/user/{os.getuid()}/bus")


def fetch(key_id: str, patience: float = PATIENCE) -> bytes:
    """The key under this id. Raises Unreachable."""
    answer = _ask({"do": "get", "id": key_id}, patience)
    if "key" not in answer:
        raise Unreachable(str(answer.get("why")))
    return b64decode(answer["key"])


def keep(key_id: str, key: bytes, patience: float = PATIENCE) -> None:
    """Put a key into the keyring and read it back. Raises Unreachable."""
    answer = _ask({"do": "set", "id": key_id, "key": b64encode(key).decode()}, patience)
    if "key" not in answer or b64decode(answer["key"]) != key:
        raise Unreachable(str(answer.get("why", "it gave back something else")))


def forget(key_id: str, patience: float = PATIENCE) -> None:
    """Remove a key. Raises Unreachable."""
    answer = _ask({"do": "delete", "id": key_id}, patience)
    if "why" in answer:
        raise Unreachable(str(answer["why"]))


def _ask(request: dict[str, str], patience: float) -> dict[str, Any]:
    import subprocess  # costs 16 ms: only where a keyring is asked

    paths = list(dict.fromkeys(path for path in sys.path if os.path.isabs(path)))
    code = f"import sys; sys.path[:0] = {paths!r}; from sidekeep.vault.keyring_child import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-IS", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(msgspec.json.encode(request), timeout=patience)
        answer = msgspec.json.decode(output)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"it did not answer within {patience:.0f} seconds") from None
    except msgspec.DecodeError:
        raise Unreachable("it could not be asked") from None
    finally:
        # What the deadline ends must not go on to show a dialog.
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
    return answer if isinstance(answer, dict) else {"why": "it could not be asked"}
