"""SKILL.md in two parts: the front matter between its `---` lines as plain values, and the body.

Of YAML it reads what front matter is made of: `key: value` on one line, quoted or not, lists as `[a, b]` or as lines
that begin with `- `, and text that goes on in indented lines.
"""

from typing import Any, NamedTuple

from sidekeep.model.errors import InvalidCommand


class SkillFile(NamedTuple):
    """`front` is not checked; the body begins after the front matter."""

    front: dict[str, Any]
    body: str


def split(raw: str) -> SkillFile:
    """Raises InvalidCommand for a text without front matter, naming the line that cannot be read."""
    lines = raw.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        raise InvalidCommand("raw: SKILL.md begins with a line of three dashes and its front matter.")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() in ("---", "...")), None)
    if end is None:
        raise InvalidCommand("raw: the front matter has no end: a second line of three dashes is missing.")
    return SkillFile(_front(lines[1:end]), "\n".join(lines[end + 1 :]).strip("\n"))


def _front(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    key = ""
    for number, line in enumerate(lines, 2):
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        if line[0] in " \t-" and key:
            found[key] = _more(found[key], said)
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise InvalidCommand(f"raw: line {number} of the front matter is no `key: value`.")
        key = name.strip()
        found[key] = _value(value.strip())
    return found


def _more(before: Any, said: str) -> Any:
    if said.startswith("- "):
        return [*(before if isinstance(before, list) else []), _plain(said[2:].strip())]
    text = before if isinstance(before, str) else ""
    return said if text in ("", "|", ">", "|-", ">-") else f"{text} {said}"


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_plain(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    return {"true": True, "false": False}.get(text, _plain(text))


def _plain(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text
