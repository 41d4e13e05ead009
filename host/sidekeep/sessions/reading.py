"""A session read back from the commits of its repository, each node checked against its digest.

What is read may come from anywhere (a remote, a restored folder), so nothing of it is believed: names, sizes, kinds of
entries and digests are checked, what does not hold is named in `faults`, and the rest is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from sidekeep.model.canonical import canonical
from sidekeep.model.digests import node_digest
from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import SAFE_INTEGER, UPLOAD_BYTES
from sidekeep.model.payloads import BY_TYPE
from sidekeep.sessions.layout import node_name, safe_name

PURGED = "purged.json"
_NODE = re.compile(r"(\d{6,9})-([0-9a-f-]{36})\.json")
_RECORD = re.compile(r"\d{6,9}-[^/\\\x00-\x1f]{1,120}\.json")
_STORE = re.compile(r"[0-9a-f]{8}")
_HUNDREDS = re.compile(r"\d{4,7}")
_FILE_BYTES = 32 * 1024 * 1024
_META_BYTES = 1024 * 1024
_FAULTS = 100
_FILE, _FOLDER = 0o100644, 0o040000
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class ReadNode(NamedTuple):
    """A node as its file says it; `store` and `n` are whose it is and how that store counts it, `oid` is its blob."""

    id: str
    parent_id: str | None
    parent_digest: str | None
    ts: int
    type: str
    payload: dict[str, Any]
    digest: str
    deleted: bool
    store: str
    n: int
    oid: str
    #: Whether it was a tombstone in the earlier commit; None where it was not in it.
    was_deleted: bool | None = None

    @property
    def file(self) -> str:
        return node_name(self.store, self.n, self.id)


class ReadUpload(NamedTuple):
    """A file that the user sent; `oid` names its bytes in the repository."""

    id: str
    name: str
    oid: str
    size: int


@dataclass
class ReadSession:
    """What a commit says of a session; `meta` is empty where it cannot be read."""

    id: str
    purged: bool = False
    meta: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, ReadNode] = field(default_factory=dict)
    uploads: list[ReadUpload] = field(default_factory=list)
    #: Records of turns: file and blob.
    records: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def fault(self, words: str) -> None:
        if len(self.faults) < _FAULTS:
            self.faults.append(words)

    def in_order(self) -> Iterator[ReadNode]:
        """Parents before their children, else by time and number; a cycle is no part of it."""
        from heapq import heapify, heappop, heappush

        below: dict[str, list[ReadNode]] = {}
        ready: list[tuple[int, str, int, str]] = []
        for node in self.nodes.values():
            if node.parent_id in self.nodes:
                below.setdefault(str(node.parent_id), []).append(node)
            else:
                ready.append((node.ts, node.store, node.n, node.id))
        heapify(ready)
        while ready:
            node = self.nodes[heappop(ready)[3]]
            yield node
            for child in below.get(node.id, ()):
                heappush(ready, (child.ts, child.store, child.n, child.id))


def read_session(repository: Any, commit: str, session_id: str, since: str | None = None) -> ReadSession:
    """The session at a commit; with `since`, an earlier commit, only the nodes and uploads that are not in that one.

    Raises KeyError, or the library's GitError, for a commit that cannot be read.
    """
    found = ReadSession(session_id)
    tree = repository[commit].tree
    before = None if since is None else repository[since].tree
    if PURGED in tree:
        found.purged = True
        return found
    found.meta = _meta(repository, tree, found)
    for store in _folders(repository, tree, before, ("history",), found):
        if _STORE.fullmatch(store.name):
            for hundreds in _folders(repository, store.tree, store.before, (), found):
                if _HUNDREDS.fullmatch(hundreds.name):
                    _nodes(repository, hundreds, store.name, found)
    for store in _folders(repository, tree, before, ("context",), found):
        if _STORE.fullmatch(store.name):
            for hundreds in _folders(repository, store.tree, store.before, (), found):
                if _HUNDREDS.fullmatch(hundreds.name):
                    _records(repository, hundreds, store.name, found)
    for attachment in _folders(repository, tree, before, ("workdir", "attachments"), found):
        _upload(repository, attachment, found)
    return found


class _Folder(NamedTuple):
    name: str
    tree: Any
    before: Any


def _folders(repository: Any, tree: Any, before: Any, way: tuple[str, ...], found: ReadSession) -> Iterator[_Folder]:
    """The folders below a way; those that are the same in `before` are left out."""
    for name in way:
        tree = _below(repository, tree, name)
        before = None if before is None else _below(repository, before, name)
        if tree is None or (before is not None and before.id == tree.id):
            return
    for entry in tree:
        earlier = None if before is None else _below(repository, before, entry.name)
        if earlier is not None and earlier.id == entry.id:
            continue
        if entry.filemode != _FOLDER:
            found.fault(f"{entry.name}: is no folder where one belongs")
            continue
        yield _Folder(entry.name, repository[entry.id], earlier)


def _below(repository: Any, tree: Any, name: str) -> Any:
    if name not in tree or tree[name].filemode != _FOLDER:
        return None
    return repository[tree[name].id]


def _nodes(repository: Any, folder: _Folder, store: str, found: ReadSession) -> None:
    for entry in folder.tree:
        if folder.before is not None and entry.name in folder.before and folder.before[entry.name].id == entry.id:
            continue
        named = _NODE.fullmatch(entry.name)
        if named is None or entry.filemode != _FILE:
            found.fault(f"history/{store}/{folder.name}/{entry.name}: is no node's file")
            continue
        try:
            node = _node(repository[entry.id], store, int(named[1]), named[2])
            if folder.before is not None and entry.name in folder.before:
                earlier = _decode(repository[folder.before[entry.name].id].data)
                node = node._replace(was_deleted=earlier.get("deleted") is True)
            if f"{folder.name}/{entry.name}" != node.file.split("/", 2)[2]:
                raise ValueError("lies in a wrong place")
        except (ValueError, KeyError, TypeError, RecursionError, msgspec.MsgspecError) as error:
            found.fault(f"history/{store}/{folder.name}/{entry.name}: {error}")
            continue
        if node.id in found.nodes:
            found.fault(f"history/{store}/{folder.name}/{entry.name}: is there twice")
            continue
        found.nodes[node.id] = node


def _node(blob: Any, store: str, n: int, node_id: str) -> ReadNode:
    if blob.size > _FILE_BYTES:
        raise ValueError("is too large")
    about = _decode(blob.data)
    if about.get("damaged") is not None:
        raise ValueError("was damaged when it was written")
    parent, parent_digest, payload = about["parentId"], about["parentDigest"], about["payload"]
    kind, ts = about["type"], about["ts"]
    if about["id"] != node_id or not is_uuid(node_id) or not (parent is None or is_uuid(parent)):
        raise ValueError("its ids are not right")
    if kind not in BY_TYPE or type(ts) is not int or not 0 <= ts <= SAFE_INTEGER:
        raise ValueError("its type or its time is not right")
    text = canonical(payload)
    if node_digest(node_id, parent, parent_digest, ts, kind, text) != about["digest"]:
        raise ValueError("is not what its digest says")
    msgspec.convert(payload, BY_TYPE[kind])
    deleted = about.get("deleted") is True
    return ReadNode(node_id, parent, parent_digest, ts, kind, payload, about["digest"], deleted, store, n,
                    str(blob.id))  # fmt: skip


def _records(repository: Any, folder: _Folder, store: str, found: ReadSession) -> None:
    for entry in folder.tree:
        if entry.filemode == _FILE and _RECORD.fullmatch(entry.name) and repository[entry.id].size <= _META_BYTES:
            found.records.append((f"context/{store}/{folder.name}/{entry.name}", str(entry.id)))
        else:
            found.fault(f"context/{store}/{folder.name}/{entry.name}: is no record of a turn")


def _upload(repository: Any, folder: _Folder, found: ReadSession) -> None:
    if not is_uuid(folder.name):
        found.fault(f"workdir/attachments/{folder.name}: is no upload")
        return
    for entry in folder.tree:
        where = f"workdir/attachments/{folder.name}/{entry.name}"
        if entry.filemode != _FILE or safe_name(entry.name) != entry.name:
            found.fault(f"{where}: is no upload's file")
            continue
        size = int(repository[entry.id].size)
        if size > UPLOAD_BYTES:
            found.fault(f"{where}: is too large")
            continue
        found.uploads.append(ReadUpload(folder.name, entry.name, str(entry.id), size))
        break


#: Members of `meta.json` that are taken over, and what each is.
META = {
    "agent_id": str, "title": str, "created_at": float, "updated_at": float, "project_id": str,
    "project_name": str, "source": str,
    "channel": str, "account_id": str, "peer_display": str, "peer_id": str, "pinned": bool, "archived": bool,
    "group": str, "head_id": str, "parent_session_id": str, "folder_id": str, "preset": str, "title_source": str,
    "deleted_at": float, "tags": list, "stats": dict,
}  # fmt: skip
_TEXT = 2000


def _meta(repository: Any, tree: Any, found: ReadSession) -> dict[str, Any]:
    try:
        entry = tree["meta.json"]
        blob = repository[entry.id]
        if entry.filemode != _FILE or blob.size > _META_BYTES:
            raise ValueError("is no file of its kind")
        about = _decode(blob.data)
    except (KeyError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        found.fault(f"meta.json: {error}")
        return {}
    if about.get("id") != found.id:
        found.fault("meta.json: is that of another session")
        return {}
    kept = {}
    for name, kind in META.items():
        value = about.get(name)
        if value is None or fits(value, kind):
            kept[name] = value
        else:
            found.fault(f"meta.json: {name} is not what it has to be")
    return kept


def fits(value: object, kind: type) -> bool:
    """Whether a value of `meta.json` is what its member has to be."""
    if kind is float:
        return type(value) in (int, float) and 0 <= value <= SAFE_INTEGER / 1000  # type: ignore[operator]
    if kind is str:
        return isinstance(value, str) and len(value) <= _TEXT
    if kind is list:
        return isinstance(value, list) and len(value) <= _TEXT and all(fits(each, str) for each in value)
    return type(value) is kind
