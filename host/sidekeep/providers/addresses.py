"""Where a connection's endpoint lies: which addresses may be used, and the one that a path below it has."""

from typing import NamedTuple

from sidekeep.model.addresses import is_loopback, judged

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
        if not self.query:
            return f"{self.base}/{path}"
        return f"{self.base}/{path}{'&' if '?' in path else '?'}{self.query}"


def checked(base_url: str, usual_path: str, endings: tuple[str, ...]) -> Address:
    """An address by the rules: https, or http to this machine, nothing that hides another meaning.

    An address without a path gets the usual one; a pasted one that goes on to an operation (`endings`) is cut
    there. Raises InvalidCommand, whose message never repeats a user name or a query.
    """
    parts = judged(base_url)
    scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    local = is_loopback(host)
    path = parts.path.rstrip("/")
    for ending in endings:
        path = path.removesuffix(ending)
    shown = f"[{host}]" if ":" in host else host
    named = f"{scheme}://{shown}" + (f":{port}" if port not in (None, _PORTS[scheme]) else "")
    return Address(f"{named}{path or usual_path}", parts.query, named, scheme == "https", local)
