"""Which addresses a key may be sent to: https, or http to this machine, and nothing that hides another meaning."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from sidekeep.model.errors import InvalidCommand


def judged(base_url: str) -> SplitResult:
    """The parts of an endpoint's address that may be used.

    Raises InvalidCommand, whose message never repeats a user name or a query.
    """
    try:
        if any(char <= " " or char == "\x7f" or char == "\\" for char in base_url):
            raise ValueError
        parts = urlsplit(base_url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidCommand("connection.baseUrl: is not an address.") from None
    if parts.scheme not in ("https", "http") or not host or parts.fragment:
        raise InvalidCommand("connection.baseUrl: is not an address that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise InvalidCommand("connection.baseUrl: holds a user name; keys are stored as secrets.")
    if parts.scheme == "http" and not is_loopback(host):
        raise InvalidCommand("connection.baseUrl: takes https, or http to this machine only.")
    return parts


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only be this machine; spellings that need guessing are not."""
    name = host.lower().rstrip(".")
    if name == "localhost":
        return True
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback
