"""Where a connection's endpoint lies: which addresses may be used, and the one that a path below it has."""

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from sidekeep.model.errors import InvalidCommand

_PORTS = {"https": 443, "http": 80}


class Address(NamedTuple):
    """A base URL that may be used. `origin` is scheme, host and effective port; it is what messages name."""

    base: str
    query: str
    origin: str
    secure: bool
    loopback: bool

    def at(self, path: str) -> str:
        """The URL of a path below the base, with the query that the base has."""
        return f"{self.base}/{path}" + (f"?{self.query}" if self.query else "")


def checked(base_url: str, usual_path: str, endings: tuple[str, ...]) -> Address:
    """An address by the rules: https, or http to this machine, nothing that hides another meaning.

    An address without a path gets the usual one; a pasted one that goes on to an operation (`endings`) is cut
    there. Raises InvalidCommand, whose message never repeats a user name or a query.
    """
    try:
        if any(char <= " " or char == "\x7f" or char == "\\" for char in base_url):
            raise ValueError
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidCommand("connection.baseUrl: is not an address.") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host or parts.fragment:
        raise InvalidCommand("connection.baseUrl: is not an address that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise InvalidCommand("connection.baseUrl: holds a user name; keys are stored as secrets.")
    local = is_loopback(host)
    if scheme == "http" and not local:
        raise InvalidCommand("connection.baseUrl: takes https, or http to this machine only.")
    path = parts.path.rstrip("/")
    for ending in endings:
        path = path.removesuffix(ending)
    shown = f"[{host}]" if ":" in host else host
    named = f"{scheme}://{shown}" + (f":{port}" if port not in (None, _PORTS[scheme]) else "")
    return Address(f"{named}{path or usual_path}", parts.query, named, scheme == "https", local)


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
