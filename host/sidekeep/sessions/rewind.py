"""Rewinds: files and head back to before a message, and forth again.

Only files that turns recorded are touched, and never the user's own repository. What is overwritten is kept first, so
that a rewind can itself be taken back. Each step may be done again after a death.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from sidekeep.model.errors import Conflict, InvalidCommand, NotFound, SidekeepError
from sidekeep.model.places import Places
from sidekeep.store import inside, projects, runs, threads, tree
from sidekeep.store.recovery import Change, Recovery
from sidekeep.store.tx import Tx

_BEGINNING = "The conversation was rewound to its beginning."


class Work(Protocol):
    """What a rewind needs of whoever does it: `position` is what the last step left, `step` commits the next."""

    @property
    def id(self) -> str: ...

    @property
    def params(self) -> dict[str, Any]: ...

    @property
    def position(self) -> Any: ...

    @property
    def places(self) -> Places: ...

    def read(self, look: Callable[[Tx], Any]) -> Any: ...

    def step(
        self,
        position: object,
        *,
        done: int,
        total: int | None = None,
        note: str = "",
        write: Callable[[Tx], Any] | None = None,
    ) -> Any: ...


class Plan(NamedTuple):
    """What a rewind would do. `turns` are rewound last first; `head` is the node that the cursor goes to."""

    root: str | None
    project_id: str | None
    turns: list[str]
    head: str | None
    before: str | None
    text: str


def rewind(work: Work) -> dict[str, Any]:
    """`{"files": [{"path", "action", "turnId", "changedSince"?}], "headId", "text", "undoId"?}`: `action` is `restore`
    or `delete`, `changedSince` says that the file is not what the turn left; `text` is the message that is taken back.
    With `dryRun` nothing is done and there is no `undoId`."""
    params = work.params
    thread_id = str(params["threadId"])
    position = work.position or {}
    if position.get("moved"):
        return {**position["report"], "undoId": work.id}  # a death came between the last step and its report
    plan: Plan = work.read(lambda tx: _plan(tx, thread_id, str(params["nodeId"])))
    recovery = Recovery(work.places, thread_id, plan.project_id)
    with_files = params.get("files", True)
    wanted = _wanted(recovery, plan) if with_files else {}
    report: dict[str, Any] = position.get("report") or {
        "files": _shown(plan, wanted),
        "headId": plan.head,
        "text": plan.text,
    }
    if params.get("dryRun"):
        return report
    undo = _undo_name(work.id)
    work.step({"report": report}, done=0, total=len(wanted) + 1, note="keeping what is there")
    if plan.root is not None and wanted:
        _put_all(plan.root, recovery, undo, wanted, head=plan.before)
    elif not recovery.document(undo):
        recovery.record_head(undo, plan.before)
    try:
        work.step(
            {"report": report, "moved": True},
            done=len(wanted) + 1,
            note="moving the head",
            write=lambda tx: _move(tx, thread_id, plan.head),
        )
    except SidekeepError:
        if plan.root is not None:
            _put_back(plan.root, recovery, undo)
        raise
    return {**report, "undoId": work.id}


def undo_rewind(work: Work) -> dict[str, Any]:
    """`{"files": [{"path", "action"}], "headId"}`: what was there before the rewind is there again."""
    thread_id, undo_id = str(work.params["threadId"]), str(work.params["undoId"])
    if work.position is not None:
        report: dict[str, Any] = work.position
        return report
    plan: Plan = work.read(lambda tx: _here(tx, thread_id))
    recovery = Recovery(work.places, thread_id, plan.project_id)
    document = recovery.document(_undo_name(undo_id))
    if not document:
        raise NotFound("There is no such rewind of this conversation, or it was so long ago that it is not kept.")
    files: list[dict[str, Any]] = []
    if plan.root is not None:
        files = _put_back(plan.root, recovery, _undo_name(undo_id))
    head = document.get("head")
    told = {"files": files, "headId": head}
    work.step(told, done=1, total=1, note="moving the head", write=lambda tx: _move(tx, thread_id, head))
    return told


def _undo_name(job_id: str) -> str:
    return f"undo-{job_id}"


def _here(tx: Tx, thread_id: str) -> Plan:
    row = threads.live(tx, thread_id)
    runs.refuse_while_active(tx, row)
    return Plan(projects.folder_of(tx, row), row.project_id, [], None, row.leaf_id, "")


def _plan(tx: Tx, thread_id: str, node_id: str) -> Plan:
    here = _here(tx, thread_id)
    row = threads.live(tx, thread_id)
    node = tree.find(tx, row, node_id)
    if node.type != "user_message" or node.deleted:
        raise InvalidCommand("nodeId: is the message of the user that is to be taken back.")
    if not tree.is_on_active_path(tx, row, node.k):
        raise InvalidCommand("nodeId: is not on the branch that is shown; choose its branch first.")
    above = tree.visible_parent(tx, node)
    turns = [
        str(turn)
        for (turn,) in tx.all(
            "SELECT turn_id FROM runs WHERE thread = ? AND user_node >= ? AND kind <> 'title' "
            "ORDER BY user_node DESC, k DESC",
            (row.k, node.k),
        )
    ]
    text = tree.full_text(node)
    return here._replace(turns=list(dict.fromkeys(turns)), head=None if above is None else above.id, text=text)


def _wanted(recovery: Recovery, plan: Plan) -> dict[str, tuple[str, Change]]:
    """Path → the turn and the change that it goes back to: the earliest of the turns that are rewound."""
    found: dict[str, tuple[str, Change]] = {}
    for turn in plan.turns:
        for change in recovery.changes(turn):
            later = found.get(change.path)
            found[change.path] = (turn, change if later is None else change._replace(after=later[1].after))
    return found


def _shown(plan: Plan, wanted: dict[str, tuple[str, Change]]) -> list[dict[str, Any]]:
    shown = []
    for path, (turn, change) in sorted(wanted.items()):
        now = _digest(plan.root, path)
        if now == change.before:
            continue
        action = "delete" if change.before is None else "restore"
        entry: dict[str, Any] = {"path": path, "action": action, "turnId": turn}
        if now != change.after:
            entry["changedSince"] = True
        shown.append(entry)
    return shown


def _digest(root: str | None, path: str) -> str | None:
    if root is None:
        return None
    try:
        return inside.digest(inside.read(root, path))
    except SidekeepError:
        return "unreadable"


def _put_all(
    root: str, recovery: Recovery, undo: str, wanted: dict[str, tuple[str, Change]], *, head: str | None
) -> None:
    """Keep what is there, all of it, then put every file back."""
    contents = {path: recovery.before(turn, change) for path, (turn, change) in wanted.items()}
    if not recovery.document(undo).get("whole"):
        for path, content in contents.items():
            recovery.record(undo, path, inside.read(root, path), inside.digest(content), head=head)
        recovery.record_head(undo, head, whole=True)
    for path, content in contents.items():
        _put(root, path, content)


def _put_back(root: str, recovery: Recovery, undo: str) -> list[dict[str, Any]]:
    done = []
    for change in recovery.changes(undo):
        content = recovery.before(undo, change)
        if _put(root, change.path, content):
            done.append({"path": change.path, "action": "delete" if content is None else "restore"})
    return done


def _put(root: str, path: str, content: bytes | None) -> bool:
    for _ in range(3):
        now = inside.digest(inside.read(root, path))
        if now == inside.digest(content):
            return False
        try:
            inside.write(root, path, content, now)
        except Conflict:
            continue  # somebody writes it just now
        return True
    raise Conflict(f"{path} is being changed by another program; nothing more was put back.")


def _move(tx: Tx, thread_id: str, head: str | None) -> None:
    row = threads.live(tx, thread_id)
    runs.refuse_while_active(tx, row)
    if head is None:
        notice = {"code": "rewound", "text": _BEGINNING}
        tree.append(tx, row, None, "system_notice", notice)
    else:
        tree.set_active_head(tx, row, tree.find(tx, row, head).k)
    tx.finish()
