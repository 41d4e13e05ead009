"""Automatic titles: the first line at once; a model's later; a person's for good (second document, B19)."""

from typing import Any

from sidekeep.model.limits import TITLE_FIRST_LINE
from sidekeep.store.thread_row import ThreadRow


def first_line(payload: dict[str, Any]) -> str:
    """The first line with something in it, cut to 50 characters."""
    for block in payload.get("content", ()):
        if block.get("type") == "text":
            for line in block["text"].splitlines():
                if line.strip():
                    return " ".join(line.split())[:TITLE_FIRST_LINE].rstrip()
    return ""


def name_by_first_line(row: ThreadRow, payload: dict[str, Any]) -> None:
    """Give a thread without a title the first line of its first message."""
    if row.title_source == "none":
        title = first_line(payload)
        if title:
            row.set("title", title)
            row.set("title_source", "first_line")


def name_by_model(row: ThreadRow, title: str, mark: int) -> bool:
    """Take a model's title, unless a person named the thread meanwhile."""
    if row.title_source == "user" or not title.strip():
        return False
    row.set("title", " ".join(title.split())[:TITLE_FIRST_LINE].rstrip())
    row.set("title_source", "model")
    row.set("title_mark", mark)
    return True
