"""What is a Git remote: a folder, or a URL of ssh, https or file that holds no password and names no program."""

import os
import re

from sidekeep.model.errors import InvalidCommand

_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
_SCP = re.compile(r"(?:[\w.+-]+@)?[\w.-]+:(?!:)[^\0]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def checked(url: str) -> str:
    """The URL as it is used and noted. Raises InvalidCommand for what is no remote, or holds a password."""
    url = url.strip()
    if not url or url.startswith("-") or _CONTROL.search(url):
        raise InvalidCommand("remote: is a folder, or a URL of ssh, https or file.")
    if os.path.isabs(url):
        return url
    if "://" not in url:
        if _SCP.fullmatch(url) and not url.split(":", 1)[0].split("@")[-1].startswith("-"):
            return url
        raise InvalidCommand("remote: is an absolute path, or a URL of ssh, https or file.")
    from urllib.parse import urlsplit  # slow to import, and rarely needed

    try:
        parts = urlsplit(url)
        host, password = parts.hostname, parts.password
    except ValueError:
        raise InvalidCommand("remote: is no URL.") from None
    if parts.scheme not in ("https", "http", "ssh", "file"):
        raise InvalidCommand("remote: ssh, https and file are spoken.")
    if password is not None:
        raise InvalidCommand("remote: holds a password; give it to Git's credential helper and leave it out here.")
    if parts.scheme == "http" and host not in _LOCAL:
        raise InvalidCommand("remote: http is spoken to this machine only; use https.")
    if parts.scheme != "file" and (not host or host.startswith("-") or (parts.username or "").startswith("-")):
        raise InvalidCommand("remote: names no host.")
    return url
