"""Tools on the folder of a conversation's project: list, read, write; what is overwritten can be put back."""

from typing import Annotated

from msgspec import Meta

from sidekeep.model import mimes
from sidekeep.model.errors import Conflict, SidekeepError
from sidekeep.store import inside
from sidekeep.store.recovery import Recovery
from sidekeep.turns.fences import fenced
from sidekeep.turns.tools.descriptor import Args, FileTool, InFolder, Outcome

_CHARACTERS = 8_000
_WRITE_CHARACTERS = 1024 * 1024
_PATH = Meta(max_length=4096, description="A path inside the project's folder, with / between names.")


class ListFiles(Args):
    """Arguments of list_files."""

    path: Annotated[str, _PATH] = ""


class ReadFile(Args):
    """Arguments of read_file."""

    path: Annotated[str, _PATH]
    offset: Annotated[int, Meta(ge=0, description="From which character on.")] = 0


class WriteFile(Args):
    """Arguments of write_file."""

    path: Annotated[str, _PATH]
    content: Annotated[str, Meta(max_length=_WRITE_CHARACTERS, description="The whole text of the file.")]


def _list(place: InFolder, args: ListFiles) -> Outcome:
    found = inside.listing(place.root, args.path)
    lines = [f"{each.name}/" if each.kind == "folder" else f"{each.name} ({each.size} bytes)" for each in found]
    if len(found) == inside.ENTRIES:
        lines.append("[There is more; look into a folder.]")
    text = _data("\n".join(lines) or "[The folder is empty.]", args.path or ".")
    return Outcome(True, text, {"file": {"path": args.path, "entries": len(found)}})


def _read(place: InFolder, args: ReadFile) -> Outcome:
    data = inside.read(place.root, args.path)
    if data is None:
        return Outcome(False, f"There is no file {args.path}.", {"code": "not_found"})
    if not mimes.is_text(data):
        return Outcome(False, f"{args.path} is no text.", {"code": "invalid_command"})
    whole = data.decode("utf-8", "replace")
    part = whole[args.offset : args.offset + _CHARACTERS]
    left = len(whole) - args.offset - len(part)
    text = _data(part, args.path)
    if left > 0:
        text += f"\n[{left} more characters: read_file with offset {args.offset + len(part)}]"
    about = {"path": args.path, "sha256": inside.digest(data), "size": len(data)}
    return Outcome(True, text, {"file": about})


def _write(place: InFolder, args: WriteFile) -> Outcome:
    data = args.content.encode("utf-8", "replace")
    wanted, before = inside.digest(data), inside.read(place.root, args.path)
    standing = inside.digest(before)
    about = {"path": args.path, "sha256": wanted, "size": len(data), "written": True}
    if standing == wanted:
        # Also what a death cut off after the write: it is done.
        return Outcome(True, f"{args.path} has this content.", {"file": about})
    if before is not None:
        known = place.known.get(args.path)
        if known is None:
            return Outcome(False, f"NEVER_READ: read {args.path} before you write it.", {"code": "never_read"})
        if known != standing:
            return Outcome(
                False, f"STALE: {args.path} was changed since it was read; read it again.", {"code": "stale"}
            )
    recovery = Recovery(place.places, place.session_id, place.project_id)
    recovery.record(place.turn_id, args.path, before, wanted, project=place.root)
    recovery.prune()
    try:
        inside.write(place.root, args.path, data, standing)
    except Conflict:
        return Outcome(False, f"STALE: {args.path} was changed meanwhile; read it again.", {"code": "stale"})
    verb = "Made" if before is None else "Wrote"
    return Outcome(True, f"{verb} {args.path} ({len(data)} bytes).", {"file": {**about, "made": before is None}})


def act(tool: FileTool, place: InFolder, args: Args) -> Outcome:
    """Carry out a call in a thread of its own; what the folder refuses is the tool's failure."""
    try:
        return tool.act(place, args)
    except SidekeepError as error:
        return Outcome(False, error.message, {"code": error.code})
    except OSError as error:
        return Outcome(False, f"The system refused it: {error.strerror or error}.", {"code": "internal"})


def _data(text: str, title: str) -> str:
    """What a file says is no request of the user."""
    return fenced(text, kind="file", trust="untrusted", provenance="tool", title=title, url="").whole


TOOLS = (
    FileTool(
        name="list_files",
        description="Lists a folder of the user's project.",
        args=ListFiles,
        level="builtin",
        risk="file",
        repeat="retry-safe",
        asks=lambda args: f"List the folder \u201c{args.path or '.'}\u201d of the project",
        act=_list,
    ),
    FileTool(
        name="read_file",
        description="Reads a text file of the user's project, 8,000 characters at a time.",
        args=ReadFile,
        level="builtin",
        risk="file",
        repeat="retry-safe",
        asks=lambda args: f"Read the file \u201c{args.path}\u201d of the project",
        act=_read,
    ),
    FileTool(
        name="write_file",
        description="Writes a whole text file of the user's project; one that is there has to be read first.",
        args=WriteFile,
        level="builtin",
        risk="write",
        repeat="inspect-first",
        asks=lambda args: f"Write the file \u201c{args.path}\u201d of the project ({len(args.content)} characters)",
        act=_write,
    ),
)
