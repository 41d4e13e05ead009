"""Takes over conversations of OpenProgram: its state folder, or sessions that lie in a project (second document).

The folder is only read. Each session is read whole and checked before anything of it is written; what is taken goes
into the store in steps that may be repeated, under ids made from the old ones, so that a second time adds nothing.
Layouts:
`<state>/sessions/<id>`, `<state>/sessions/projects/<project>/<id>`, and the old `<project>/.openprogram/sessions/<id>`,
each with `meta.json` and `history/<seq>-<role letter>-<node>.json`, a recorded call in each file: `role` (user, llm,
code), `name`, `input`, `output`, `caller`, `created_at` in seconds, `metadata.predecessor`.
"""

import json
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sidekeep.model.canonical import canonical
from sidekeep.model.digests import node_digest
from sidekeep.model.errors import NotFound, SidekeepError
from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import SAFE_INTEGER
from sidekeep.sessions.reading import META, ReadNode, ReadSession, fits
from sidekeep.sessions.union import United, unite
from sidekeep.store import inside
from sidekeep.store.tx import Tx

_SPACE = uuid.UUID("5f2c3c57-0c57-5f0e-9a53-0f6f1d0a6a11")
#: What stands for the store that made them, in the names of files.
_STORE = "09e29a01"
_FILES = 200_000
_ROLES = frozenset(("user", "llm", "code"))

Progress = Callable[[int, int, str], None]


@dataclass
class Item:
    """What became of one session. `state`: taken, known (nothing was new), or refused; `faults` names what was not."""

    name: str
    id: str
    state: str
    title: str = ""
    messages: int = 0
    faults: list[str] = field(default_factory=list)


def find(folder: str) -> list[str]:
    """The session folders at or below this one, by name. Raises NotFound where there is none."""
    found: list[str] = []
    for below in ("", "sessions", ".openprogram/sessions", ".sidekeep/sessions"):
        found += _in(os.path.join(folder, *below.split("/")) if below else folder)
        found += [
            each
            for project in _folders(os.path.join(folder, *below.split("/"), "projects") if below else "")
            for each in _in(project)
        ]
    if not found:
        raise NotFound(f"No session of OpenProgram lies in {folder}: no folder with a meta.json and a history.")
    return sorted(dict.fromkeys(found))


def _folders(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(e.path for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith("."))
    except OSError:
        return


def _in(folder: str) -> list[str]:
    return [each for each in _folders(folder) if _is_session(each)]


def _is_session(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "meta.json")) and os.path.isdir(os.path.join(folder, "history"))


def take_over(
    folder: str, write: Callable[[Callable[[Tx], Any]], Any], progress: Progress, *, dry_run: bool = False
) -> list[Item]:
    """Take every session over; a report for each. Raises NotFound, and the store's errors."""
    found = find(folder)
    items = []
    for number, path in enumerate(found, 1):
        progress(number, len(found), os.path.basename(path))
        items.append(_one(path, write, dry_run=dry_run))
    return items


def _one(path: str, write: Callable[[Callable[[Tx], Any]], Any], *, dry_run: bool) -> Item:
    name = os.path.basename(path)
    item = Item(name, session_id_of(name), "refused")
    try:
        read = read_session(path)
    except (SidekeepError, OSError, ValueError, RecursionError) as error:
        item.faults.append(str(error))
        return item
    item.title, item.messages, item.faults = str(read.meta.get("title") or ""), len(read.nodes), read.faults
    if dry_run:
        item.state = "taken"
        return item
    done: United = unite(read, write, lambda _upload, _offset, _length: b"")
    item.faults = done.faults
    item.state = "taken" if done.made or done.nodes else "known"
    item.messages = done.nodes
    return item


def session_id_of(name: str) -> str:
    """A session's id here: its own where it is a UUID, else one that is always the same for this name."""
    return name if is_uuid(name) else str(uuid.uuid5(_SPACE, name))


def read_session(path: str) -> ReadSession:
    """A session's folder as the store will take it. Raises OSError, ValueError, ForbiddenPath, TooLarge."""
    name = os.path.basename(path)
    read = ReadSession(session_id_of(name))
    about = _object(path, "meta.json")
    read.meta = _meta(about, read)
    calls = _calls(path, read)
    _Tree(read, name).grow(calls)
    head = about.get("head_id")
    if isinstance(head, str) and head:
        read.meta["head_id"] = _node_id(name, head)
    return read


def _object(path: str, name: str) -> dict[str, Any]:
    data = inside.read(path, name)
    if data is None:
        raise ValueError(f"{name} is not there")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError(f"{name} is no JSON object")
    return found


def _meta(about: dict[str, Any], read: ReadSession) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for member, kind in META.items():
        value = about.get(member)
        if value in (None, "") or member in ("head_id", "project_id", "stats", "deleted_at", "tags"):
            continue
        if fits(value, kind):
            kept[member] = value
        else:
            read.fault(f"meta.json: {member} is not what it has to be")
    kept["title_source"] = "model" if about.get("_auto_titled") else ("user" if kept.get("title") else "none")
    kept.setdefault("source", "openprogram")
    return kept


def _calls(path: str, read: ReadSession) -> list[dict[str, Any]]:
    """The recorded calls in the order of their numbers."""
    found: list[tuple[int, str, dict[str, Any]]] = []
    for number, entry in enumerate(inside.names(path, "history")):
        if number >= _FILES:
            read.fault(f"history has more than {_FILES} files")
            break
        if not entry.endswith(".json"):
            continue
        try:
            call = _object(path, f"history/{entry}")
            if call.get("role") not in _ROLES or not isinstance(call.get("id"), str) or not call["id"]:
                raise ValueError("is no call with a role and an id")
            seq = call.get("seq")
            first = entry.partition("-")[0]
            place = seq if type(seq) is int and seq >= 0 else int(first) if first.isdigit() else number
            found.append((place, entry, call))
        except (SidekeepError, OSError, ValueError, RecursionError) as error:
            read.fault(f"history/{entry}: {error}")
    return [call for _place, _entry, call in sorted(found, key=lambda each: each[:2])]


class _Tree:
    """Puts calls into the tree: what a model had done stands between its message and what follows it."""

    def __init__(self, read: ReadSession, name: str) -> None:
        self._read = read
        self._name = name
        self._tail: dict[str, ReadNode] = {}
        self._last: ReadNode | None = None

    def grow(self, calls: list[dict[str, Any]]) -> None:
        for call in calls:
            about = call.get("metadata") if isinstance(call.get("metadata"), dict) else {}
            above = about.get("predecessor") or call.get("predecessor")  # type: ignore[union-attr]
            if call["role"] == "code":
                above = call.get("caller") or above
            parent = self._tail.get(above) if isinstance(above, str) and above else None
            if parent is None and above:
                self._read.fault(f"{call['id']}: what it follows is not there; it begins a branch")
            elif parent is None and above is None and self._last is not None:
                parent = self._last  # written before calls said what they follow
            for kind, node_id, payload in self._payloads(call, about or {}):
                parent = self._add(node_id, parent, call, kind, payload)
            if parent is not None:
                self._tail[call["id"]] = self._last = parent
                if call["role"] == "code" and isinstance(above, str):
                    self._tail[above] = parent

    def _payloads(self, call: dict[str, Any], about: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        node_id = _node_id(self._name, call["id"])
        words = _text(call.get("output"))
        if call["role"] == "user":
            yield "user_message", node_id, {"content": [{"type": "text", "text": words}]}
        elif call["role"] == "llm" and about.get("role") == "system":
            yield "system_notice", node_id, {"text": words}
        elif call["role"] == "llm":
            content = [{"type": "text", "text": words}]
            model = _text(call.get("name"))
            yield "assistant_message", node_id, {"content": content, "model": model, "connectionId": "openprogram"}
        else:
            item = _node_id(self._name, f"{call['id']} call")
            params = json.dumps(call.get("input") or {}, ensure_ascii=False, default=str)
            tool = _text(call.get("name")) or "call"
            yield "tool_call", item, {"itemId": item, "toolName": tool, "params": params, "level": "builtin"}
            ok = about.get("status") not in ("error", "failed")
            blocks = [{"type": "text", "text": words}]
            yield "tool_result", node_id, {"itemId": item, "ok": ok, "contentForLlm": blocks}

    def _add(
        self, node_id: str, parent: ReadNode | None, call: dict[str, Any], kind: str, payload: dict[str, Any]
    ) -> ReadNode:
        payload = _well_formed(payload)
        at: Any = call.get("created_at")
        ts = round(at * 1000) if type(at) in (int, float) and 0 <= at <= SAFE_INTEGER / 1000 else 0
        above, digest = (None, None) if parent is None else (parent.id, parent.digest)
        made = node_digest(node_id, above, digest, ts, kind, canonical(payload))
        n = len(self._read.nodes) + 1
        node = ReadNode(node_id, above, digest, ts, kind, payload, made, False, _STORE, n, "")
        self._read.nodes[node_id] = node
        return node


def _node_id(session: str, node: str) -> str:
    return str(uuid.uuid5(_SPACE, f"{session}\n{node}"))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _well_formed(value: Any) -> Any:
    """A lone surrogate becomes U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_well_formed(each) for each in value]
    if isinstance(value, dict):
        return {_well_formed(name): _well_formed(each) for name, each in value.items()}
    return value
