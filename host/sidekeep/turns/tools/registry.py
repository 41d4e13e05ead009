"""All tools by name, and which of them a run is offered."""

from typing import Any

from sidekeep.turns.tools import artifact, browser, files, knowledge, waits
from sidekeep.turns.tools.descriptor import FileTool, Tool

#: Everything that this version can carry out.
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        *browser.TOOLS, *knowledge.TOOLS, knowledge.LOAD_SKILL, *artifact.TOOLS, *waits.TOOLS, *files.TOOLS,
    )
}  # fmt: skip
LEVELS = ("builtin", "L0")


def offered(*, skills: bool, folder: bool) -> list[dict[str, Any]]:
    """Catalog entries of the tools that a run is given; `load_skill` only where there is a skill, those on files only
    where the conversation's project has a folder."""
    return [
        tool.entry
        for tool in TOOLS.values()
        if (skills or tool.name != "load_skill") and (folder or not isinstance(tool, FileTool))
    ]


def today() -> dict[str, dict[str, Any]]:
    """The entries as this version has them, for the check of a snapshot."""
    return {name: tool.entry for name, tool in TOOLS.items()}
