"""`SessionStore`: the conversations of a store for a Python program (second document, *Interface*).

    from sidekeep import SessionStore

    with SessionStore() as sessions:
        sessions.create_session(session_id, "main", title="Tide pools")
        sessions.append_message(session_id, {"role": "user", "content": "What lives there?"})
        for message in sessions.get_branch(session_id):
            print(message["role"], message["content"])

It is the same store that the browsers use: what is written here is on disk when the call returns, and panels that are
open show it at once. Times are seconds since 1970, ids lower-case UUIDs. Several threads may share one object, several
processes one store.
"""

import uuid
from collections.abc import Callable
from threading import RLock
from types import TracebackType
from typing import Any, Self, TypeVar

from sidekeep.model.clock import now_ms
from sidekeep.model.digests import quicken
from sidekeep.model.errors import Conflict, InvalidCommand, NotFound
from sidekeep.model.ids import is_uuid, new_id
from sidekeep.model.limits import SAFE_INTEGER
from sidekeep.model.places import Places
from sidekeep.sessions import paths
from sidekeep.sessions.session_messages import ROLES, message_of, payload_of
from sidekeep.store import damage, projects, runs, threads, titles, trash, tree
from sidekeep.store.bell import announce
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.reading import reading
from sidekeep.store.thread_row import ThreadRow
from sidekeep.store.tree import Node
from sidekeep.store.tx import Tx, dumps

T = TypeVar("T")
_WALK = 1000

#: Fields that may be written: the column, and what a value is.
_TEXT, _FLAG, _TEXTS = "text", "flag", "texts"
_FIELDS = {
    "title": ("title", _TEXT), "pinned": ("pinned", _FLAG), "archived": ("archived", _FLAG),
    "unread": ("unread", _FLAG), "group": ("grouping", _TEXT), "tags": ("tags", _TEXTS),
    "folder_id": ("folder_id", _TEXT), "preset": ("preset", _TEXT), "project_id": ("project_id", _TEXT),
    "channel": ("channel", _TEXT), "account_id": ("account_id", _TEXT), "peer_id": ("peer_id", _TEXT),
    "peer_display": ("peer_display", _TEXT),
}  # fmt: skip
_ONLY_MADE = {"agent_id": ("agent_id", _TEXT), "source": ("source", _TEXT)}
_NEVER_EMPTY = frozenset(("title", "agent_id", "source"))
_FILTERS = {**_FIELDS, **_ONLY_MADE, "status": ("status", _TEXT)}
_NAME_CHARACTERS = 1000


class SessionStore:
    """The sessions of a state folder; None is the one that browsers use unless told otherwise.

    Raises the product's errors (`sidekeep.model.errors`): `StoreNewer`, `StorageCorrupt`, `StoreBusy`, `StorageFull`.
    """

    def __init__(self, state_dir: str | None = None) -> None:
        quicken()
        self._places = Places(state_dir).make()
        self._lock = RLock()
        self._store = open_store(self._places)
        self._doorway = Doorway(self._store)
        self._closed = False

    def close(self) -> None:
        """Let the store go; may be called again."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        self.close()

    def create_session(
        self, session_id: str, agent_id: str, *, title: str = "", source: str | None = None, **meta: Any
    ) -> None:
        """Make a session; `meta` are fields as in `update_session`. Its source is `python` unless another is given.

        Raises Conflict when it exists, InvalidCommand.
        """
        _check_id("session_id", session_id)
        fields = {"agent_id": agent_id, "title": title, "source": source or "python", **meta}
        values = _columns(fields, {**_FIELDS, **_ONLY_MADE})

        def create(tx: Tx) -> None:
            row = threads.create(tx, {"id": session_id, "title": values.get("title") or ""})
            _set(tx, row, values)

        self._write(create, lambda tx: True if tx.thread(session_id) is not None else None)

    def get_session(self, session_id: str) -> dict[str, Any] | None:
        """All fields of a session with its `head_id` and `preview`; None where there is none, or it is in the trash."""

        def get(tx: Tx) -> dict[str, Any] | None:
            row = tx.thread(session_id)
            return None if row is None or row.deleted_at is not None else _told(row)

        return self._look(get)

    def update_session(self, session_id: str, **fields: Any) -> None:
        """Change fields; only appended content moves `updated_at`. A title set here ends automatic ones.

        `head_id` moves the head: refused with RunActive while a turn runs. Raises NotFound, InvalidCommand (naming the
        field), ProjectFrozen.
        """
        head = fields.pop("head_id", None)
        values = _columns(fields, _FIELDS)
        if not values and head is None:
            raise InvalidCommand("No field to change was named.")

        def update(tx: Tx) -> None:
            row = threads.live(tx, session_id)
            _set(tx, row, values)
            if "title" in values:
                row.set("title_source", "user")
            if head is not None:
                runs.refuse_while_active(tx, row)
                tree.set_active_head(tx, row, tree.find(tx, row, head).k)

        self._write(update)

    def delete_session(self, session_id: str) -> None:
        """Into the trash, from which the panel can restore it for 30 days; what runs in it ends. Raises NotFound."""

        def delete(tx: Tx) -> None:
            row = tx.thread(session_id)
            if row is None:
                raise NotFound(f"No session {session_id}.")
            if row.deleted_at is None:
                trash.delete(tx, row)

        self._write(delete)

    def list_sessions(self, *, limit: int = 100, offset: int = 0, **filters: Any) -> list[dict[str, Any]]:
        """Sessions outside the trash, last active first, as copies; a filter is a field with its value.

        `archived` is False unless it is asked for (True, or "all"); `tags` is one tag. Raises InvalidCommand.
        """
        for name, number in (("limit", limit), ("offset", offset)):
            if not isinstance(number, int) or not 0 <= number <= SAFE_INTEGER:
                raise InvalidCommand(f"{name}: is a number from 0.")
        archived = filters.pop("archived", False)
        where, values = ["deleted_at IS NULL"], []
        if archived != "all":
            where.append("archived = ?")
            values.append(_value("archived", archived, _FLAG))
        for name, value in filters.items():
            if name not in _FILTERS:
                raise InvalidCommand(f"{name}: sessions cannot be filtered by it.")
            column, kind = _FILTERS[name]
            if kind is _TEXTS:
                where.append("EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = ?)")
                values.append(_value(name, value, _TEXT))
            elif value is None:
                where.append(f"{column} IS NULL")
            else:
                where.append(f"{column} = ?")
                values.append(_value(name, value, kind))
        statement = (
            f"{threads.sql.columns} WHERE {' AND '.join(where)} ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?"
        )
        return self._look(lambda tx: [_told(ThreadRow(row)) for row in tx.all(statement, (*values, limit, offset))])

    def get_branch(self, session_id: str, head_id: str | None = None) -> list[dict[str, Any]]:
        """The messages from the root to `head_id` (the session's head unless given), root first, without tombstones.

        A message is `{id, parent_id, role, content, created_at, payload}`; roles are user, assistant, system,
        tool_call, tool, approval. Raises NotFound.
        """

        def get(tx: Tx) -> list[dict[str, Any]]:
            row = threads.live(tx, session_id)
            at = damage.head(tx, row) if head_id is None else tree.find(tx, row, head_id).k
            path = [node for node in _path(tx, at) if not node.deleted and node.type in ROLES]
            path.reverse()
            ids: list[str | None] = [None, *(node.id for node in path)]
            return [message_of(node, parent) for node, parent in zip(path, ids, strict=False)]

        return self._look(get)

    def append_message(self, session_id: str, msg: dict[str, Any]) -> None:
        """Add a message (`role`: user, assistant or system; `content`: text or content blocks) and move the head on it.

        Its `id` may be given: the same message again is done once, another one under that id is a Conflict. It hangs
        under `parent_id`, else under the head. Raises NotFound, InvalidCommand, RunActive.
        """
        kind, payload = payload_of(msg)
        node_id = msg.get("id") or str(uuid.uuid4())
        _check_id("id", node_id)
        parent_id, ts = msg.get("parent_id"), _milliseconds(msg.get("created_at"))

        def append(tx: Tx) -> None:
            row = threads.live(tx, session_id)
            standing = tx.one(tree.sql.node_by_id, (node_id,))
            if standing is not None:
                _check_same(Node(*standing), row, kind, payload)
                return
            if kind != "system_notice":
                runs.make_way(tx, row)
            parent = damage.head(tx, row) if parent_id is None else tree.find(tx, row, parent_id).k
            move = kind != "system_notice" or not runs.is_active(tx, row.k)
            tree.append(tx, row, parent, kind, payload, node_id=node_id, ts=ts, move=move)
            if kind == "user_message":
                titles.name_by_first_line(row, payload)

        self._write(append)

    def latest_user_text(self, session_id: str) -> str | None:
        """What the user said last on the way to the head; None where they said nothing, or there is no such session."""

        def get(tx: Tx) -> str | None:
            row = tx.thread(session_id)
            if row is None or row.deleted_at is not None:
                return None
            for node in _path(tx, damage.head(tx, row)):
                if node.type == "user_message" and not node.deleted:
                    message = message_of(node, None)
                    if message["role"] == "user":
                        return str(message["content"])
            return None

        return self._look(get)

    def read_attachment(self, session_id: str, path: str) -> bytes | None:
        """The file that a message names by its path; None where there is none.

        Only files of this session and of channels are read, and the exact old form of a path from before sessions lay
        in one place. Raises ForbiddenPath for any other path, TooLarge.
        """
        return paths.read(self._places, session_id, path)

    def _write(self, decide: Callable[[Tx], Any], settled: Callable[[Tx], Any] | None = None) -> None:
        with self._lock:
            self._check_open()
            self._doorway.run(decide, settled)
        announce(self._places)

    def _look(self, look: Callable[[Tx], T]) -> T:
        with self._lock:
            self._check_open()
            with reading(Tx(self._store.db, now_ms(), new_id)) as tx:
                return look(tx)

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidCommand("This SessionStore was closed; make a new one.")


def _path(tx: Tx, at: int | None) -> "list[Node]":
    """From a node to its root, nearest first."""
    found: list[Node] = []
    while at is not None:
        step = tree.walk_up(tx, at, _WALK)
        if not step:
            break
        found += step
        at = step[-1].parent
    return found


def _told(row: ThreadRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "agent_id": row.agent_id,
        "title": row.title,
        "created_at": row.created_at / 1000,
        "updated_at": row.updated_at / 1000,
        "project_id": row.project_id,
        "source": row.source,
        "channel": row.channel,
        "account_id": row.account_id,
        "peer_display": row.peer_display,
        "peer_id": row.peer_id,
        "pinned": bool(row.pinned),
        "archived": bool(row.archived),
        "group": row.grouping,
        "status": row.status,
        "unread": bool(row.unread),
        "head_id": row.leaf_id,
        "preview": row.preview,
        "parent_session_id": row.parent_thread,
        "folder_id": row.folder_id,
        "preset": row.preset,
        "tags": row.meta()["tags"],
    }


def _set(tx: Tx, row: ThreadRow, values: dict[str, Any]) -> None:
    for column, value in values.items():
        if column == "project_id":
            projects.bind(tx, row, value)
        else:
            row.set(column, value)


def _check_id(name: str, value: object) -> None:
    if not is_uuid(value):
        raise InvalidCommand(f"{name}: is a lower-case UUID.")


def _columns(fields: dict[str, Any], known: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Column → value. Raises InvalidCommand for a field that there is not, or a value that does not fit."""
    found = {}
    for name, value in fields.items():
        if name not in known:
            raise InvalidCommand(f"{name}: is no field of a session that can be set.")
        column, kind = known[name]
        if value is None and name in _NEVER_EMPTY:
            raise InvalidCommand(f"{name}: is a text.")
        found[column] = _value(name, value, kind)
    return found


def _value(name: str, value: Any, kind: str) -> Any:
    if kind is _FLAG:
        if not isinstance(value, bool):
            raise InvalidCommand(f"{name}: is True or False.")
        return int(value)
    if kind is _TEXTS:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InvalidCommand(f"{name}: is a list of texts.")
        return dumps([_clean(each) for each in value])
    if value is not None and (not isinstance(value, str) or len(value) > _NAME_CHARACTERS):
        raise InvalidCommand(f"{name}: is a text of at most {_NAME_CHARACTERS} characters.")
    return None if value is None else _clean(value)


def _clean(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _milliseconds(seconds: Any) -> int | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= SAFE_INTEGER / 1000:
        raise InvalidCommand("created_at: is seconds since 1970.")
    return round(seconds * 1000)


def _check_same(node: Node, row: ThreadRow, kind: str, payload: dict[str, Any]) -> None:
    from sidekeep.model.canonical import canonical

    if node.k >> 32 != row.k or node.type != kind or node.payload != canonical(payload):
        raise Conflict(f"There is another message {node.id} already.")
