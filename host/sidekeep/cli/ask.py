"""Asks a person before something is written or removed."""

import sys

from sidekeep.cli.outcome import say
from sidekeep.model.errors import NeedsPermission


def agreed(question: str, *, yes: bool, chosen: bool) -> None:
    """Goes on when the person agrees, or has agreed by `--yes`.

    Without a terminal, naming the exact things (`chosen`) is agreement; a bare command is not.
    Raises NeedsPermission otherwise.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        if chosen:
            return
        raise NeedsPermission("Nothing was done: without a terminal, add --yes or name the browsers with --browser.")
    say(question + " [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise NeedsPermission("Nothing was done.")
