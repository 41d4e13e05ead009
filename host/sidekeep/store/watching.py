"""Which threads somebody looks at now: subscribed and visible in a client of a living host."""

import json
import os

from sidekeep.model.places import Places
from sidekeep.store import locks


def watched_threads(places: Places) -> set[str]:
    """From the small files that hosts keep beside their locks."""
    found: set[str] = set()
    for name in os.listdir(places.hosts):
        if not name.endswith(".json"):
            continue
        path = os.path.join(places.hosts, name)
        try:
            with open(path, encoding="utf-8") as file:
                clients = json.loads(file.read()).get("clients", ())
        except (FileNotFoundError, ValueError):
            continue
        looks_at = {thread for client in clients if client.get("visible") for thread in client.get("threads", ())}
        if looks_at and locks.is_held(path.removesuffix(".json")):
            found |= looks_at
    return found
