"""`thread.create`, `thread.update`, `thread.list`, `thread.page`."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import Conflict, InvalidCommand
from sidekeep.model.limits import LIST_DEFAULT, SNAPSHOT_NODES
from sidekeep.model.ops.threads import ThreadCreate, ThreadList, ThreadPage, ThreadUpdate
from sidekeep.store import projects, snapshot, threads, tree
from sidekeep.store.tx import Tx, dumps

_COLUMNS = {
    "title": "title", "pinned": "pinned", "archived": "archived", "folderId": "folder_id", "tags": "tags",
    "unread": "unread", "preset": "preset", "group": "grouping",
}  # fmt: skip


def create(tx: Tx, op: ThreadCreate, _ctx: Context) -> dict[str, Any]:
    project_id = given(op.project_id)
    projects.check(tx, project_id)
    row = threads.create(
        tx,
        {
            "id": given(op.thread_id),
            "title": given(op.title),
            "preset": given(op.preset),
            "folder_id": given(op.folder_id),
            "tags": given(op.tags),
            "project_id": project_id,
            "source": given(op.source),
            "agent_id": given(op.agent_id),
            "channel": given(op.channel),
            "account_id": given(op.account_id),
            "peer_id": given(op.peer_id),
            "peer_display": given(op.peer_display),
        },
    )
    return {"threadId": row.id, "revision": row.revision}


def update(tx: Tx, op: ThreadUpdate, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    expected = given(op.expected_revision)
    if expected is not None and expected != row.revision:
        raise Conflict("The conversation was changed elsewhere meanwhile.", current=row.meta())
    patch = ctx.plain["patch"]
    if not patch:
        raise InvalidCommand("patch: names nothing to change.")
    for member, value in patch.items():
        if member == "projectId":
            projects.bind(tx, row, value or None)
            continue
        if member == "tags":
            value = dumps(value)
        elif isinstance(value, bool):
            value = int(value)
        elif member in ("folderId", "preset", "group") and value == "":
            value = None
        row.set(_COLUMNS[member], value)
    if "title" in patch:
        # A person's title ends automatic ones for good.
        row.set("title_source", "user")
    tx.finish()
    return {"revision": row.revision}


def listing(tx: Tx, op: ThreadList, _ctx: Context) -> dict[str, Any]:
    asked = {
        "pinned": op.pinned,
        "folder_id": op.folder_id,
        "tag": op.tag,
        "project_id": op.project_id,
        "status": op.status,
    }
    filters = {column: value for column, value in asked.items() if given(value) is not None}
    return threads.listing(
        tx,
        limit=given(op.limit, LIST_DEFAULT),
        cursor=given(op.cursor),
        archived=given(op.archived, False),
        trash=given(op.trash, False),
        filters=filters,
        with_total=given(op.with_total, False),
    )


def page(tx: Tx, op: ThreadPage, ctx: Context) -> dict[str, Any]:
    row = threads.live(tx, op.thread_id)
    before = tree.find(tx, row, op.before_node_id)
    limit = min(given(op.limit, SNAPSHOT_NODES), SNAPSHOT_NODES)
    return snapshot.window(tx, row, before.parent, limit, strict=ctx.strict)
