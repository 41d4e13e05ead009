"""Loads the named statements of the `.sql` file beside a module."""

import sys


class Statements:
    """The statements of one `.sql` file, each an attribute named by its `-- name:` line."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def __getattr__(self, name: str) -> str:
        try:
            return self._texts[name]
        except KeyError:
            raise AttributeError(f"no statement named {name}") from None


def statements(module_file: str) -> Statements:
    """Read `thing.sql` beside `thing.py`; called once, when the module is imported."""
    with open(module_file.rpartition(".")[0] + ".sql", encoding="utf-8") as file:
        text = file.read()
    texts: dict[str, str] = {}
    for part in text.split("-- name: ")[1:]:
        name, _, body = part.partition("\n")
        texts[sys.intern(name.strip())] = body.strip()
    return Statements(texts)
