"""Who may speak to the host: the extension's fixed id, and what the user has added."""

from sidekeep.model.places import Places

# From the key in manifests/extension-key.txt: the first 32 hex digits of its SHA-256, as a to p.
EXTENSION_ID = "hojojapaoakmlfoajhbhmhegomkngagf"
_BEFORE = "chrome-extension://"
_LETTERS = frozenset("abcdefghijklmnop")
_FILE_BYTES = 64 * 1024


def origin_of(extension_id: str) -> str:
    """The origin of an extension, as a browser passes it."""
    return f"{_BEFORE}{extension_id}/"


def is_origin(text: str) -> bool:
    """Whether this is exactly the origin of one extension: no pattern, no page, no other scheme."""
    identity = text[len(_BEFORE) : -1]
    return text == origin_of(identity) and len(identity) == 32 and _LETTERS.issuperset(identity)


def origins(places: Places) -> list[str]:
    """The accepted origins: the fixed one first, then those of the `origins` file, each once.

    The file has one origin a line; `#` begins a comment. A line that is no origin admits nobody.
    """
    found = [origin_of(EXTENSION_ID)]
    try:
        with open(places.origins, "rb") as file:
            text = file.read(_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return found
    for line in text.splitlines():
        origin = line.partition("#")[0].strip()
        if is_origin(origin) and origin not in found:
            found.append(origin)
    return found


def accepted(arguments: list[str], places: Places) -> str | None:
    """The first argument that is an accepted origin; others (window handles, paths) are ignored."""
    allowed = origins(places)
    for argument in arguments:
        if argument in allowed:
            return argument
    return None
