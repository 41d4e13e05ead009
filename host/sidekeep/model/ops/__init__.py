"""Every op of the contract, one struct each, in files by what they are about (`every` imports them all).

A file is imported when the first of its ops comes: all of them together are a tenth of the time to a host's first
answer.
"""

from importlib import import_module

from sidekeep.model.ops.base import Op

# An op's name, or the family before its dot → the file that has it.
_FILES = {
    **dict.fromkeys(("initialize", "ping", "client", "receipt", "job"), "port"),
    **dict.fromkeys(("thread.subscribe", "thread.unsubscribe"), "port"),
    **dict.fromkeys(("thread", "branch", "node"), "threads"),
    **dict.fromkeys(("turn", "queue", "run", "approval", "interaction", "browser"), "turns"),
    **dict.fromkeys(("attachment", "page", "storage"), "files"),
    **dict.fromkeys(("secret", "vault", "connection", "settings", "rule", "preset", "folder"), "setup"),
    **dict.fromkeys(("memory", "skill", "plugin"), "knowledge"),
    **dict.fromkeys(("backup", "data", "session", "project", "sync"), "keeping"),
}
_known: dict[str, dict[str, type[Op]]] = {}


def named(name: str) -> type[Op] | None:
    """The struct of an op by its name on the wire; None when there is no such op."""
    file = _FILES.get(name) or _FILES.get(name.partition(".")[0])
    if file is None:
        return None
    found = _known.get(file)
    if found is None:
        found = _known[file] = _ops_in(file)
    return found.get(name)


def _ops_in(file: str) -> dict[str, type[Op]]:
    members = vars(import_module(f"{__name__}.{file}")).values()
    structs = [each for each in members if isinstance(each, type) and issubclass(each, Op) and each is not Op]
    return {str(each.__struct_config__.tag): each for each in structs}
