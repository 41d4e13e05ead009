"""What each op is answered with: the further members of `command.ack`, or the `data` of `result`."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from sidekeep.model.entities import (
    AnyJson,
    Attachment,
    Backup,
    Branch,
    Connection,
    ConnectionTemplate,
    Folder,
    Job,
    Memory,
    Out,
    Page,
    Preset,
    Project,
    Rule,
    Run,
    SearchHit,
    SecretInfo,
    SessionCommit,
    Siblings,
    Skill,
    StorageUse,
    ThreadMeta,
    ThreadNode,
    ThreadSnapshot,
    VaultState,
)


class Done(Out, kw_only=True):
    """Nothing beside that it is done."""


class ThreadMade(Out, kw_only=True):
    """A thread and its revision."""

    thread_id: str
    revision: int


class Revised(Out, kw_only=True):
    """The revision that the change made."""

    revision: int


class ThreadForked(Out, kw_only=True):
    """The new thread."""

    thread_id: str


class BranchSelected(Out, kw_only=True):
    """The leaf that is active now."""

    leaf_id: str


class NodeAppended(Out, kw_only=True):
    """The node and its place in the order of arrival."""

    node_id: str
    seq: int


class TurnSubmitted(Out, kw_only=True):
    """The run; `user_node_id` unless it is queued behind another."""

    run_id: str
    turn_id: str
    user_node_id: str | UnsetType = UNSET
    queued: bool | UnsetType = UNSET


class TurnForked(Out, kw_only=True):
    """The run of the new branch."""

    run_id: str
    turn_id: str


class TurnQueued(Out, kw_only=True):
    """The run that waits."""

    run_id: str


class AttachmentBegun(Out, kw_only=True):
    """Where to send the bytes; with `have` they are here already."""

    attachment_id: str
    chunk_bytes: int
    have: bool


class ChunkReceived(Out, kw_only=True):
    """How many chunks are here."""

    received: int


class AttachmentKept(Out, kw_only=True):
    """What was kept."""

    sha256: str
    size: int


class PageKept(Out, kw_only=True):
    """The page and the digest over its parts."""

    page_id: str
    digest: str


class JobBegun(Out, kw_only=True):
    """The job that does it."""

    job_id: str


class ConnectionSaved(Out, kw_only=True):
    """The connection."""

    connection_id: str


class RuleSaved(Out, kw_only=True):
    """The rule."""

    rule_id: str


class PresetSaved(Out, kw_only=True):
    """The preset."""

    preset_id: str


class FolderSaved(Out, kw_only=True):
    """The folder."""

    folder_id: str


class MemorySaved(Out, kw_only=True):
    """The memory."""

    memory_id: str


class SkillSaved(Out, kw_only=True):
    """The skill."""

    skill_id: str


class ProjectMade(Out, kw_only=True):
    """The project."""

    project_id: str


class ReceiptState(Out, kw_only=True):
    """What became of a command; `response` is the terminal answer."""

    status: Literal["acknowledged", "rejected", "unknown"]
    response: AnyJson | UnsetType = UNSET


class ThreadPart(Out, kw_only=True):
    """A part of the list; `cursor` is null at its end."""

    threads: list[ThreadMeta]
    cursor: str | None
    total: int | UnsetType = UNSET


class HitPart(Out, kw_only=True):
    """A part of what was found; `cursor` is null at its end."""

    hits: list[SearchHit]
    cursor: str | None


class PathPart(Out, kw_only=True):
    """A part of the active path, root side first."""

    nodes: list[ThreadNode]
    before: str | None
    siblings: dict[str, Siblings]


class Branches(Out, kw_only=True):
    """The tips of a thread."""

    branches: list[Branch]


class RunAnswer(Out, kw_only=True):
    """A run."""

    run: Run


class ReceivedChunks(Out, kw_only=True):
    """Ranges of chunk indices that are here, both ends included."""

    received: list[tuple[int, int]]


class AttachmentBytes(Out, kw_only=True):
    """A piece of an attachment, base64 on the wire."""

    data: bytes
    offset: int
    eof: bool
    size: int
    sha256: str
    mime: str


class AttachmentPart(Out, kw_only=True):
    """A part of the attachments; `cursor` is null at the end."""

    attachments: list[Attachment]
    cursor: str | None


class PagePart(Out, kw_only=True):
    """A part of the kept pages; `cursor` is null at the end."""

    pages: list[Page]
    cursor: str | None
    total: int | UnsetType = UNSET


class PageAnswer(Out, kw_only=True):
    """A kept page."""

    page: Page


class Jobs(Out, kw_only=True):
    """Jobs, newest first."""

    jobs: list[Job]


class Secrets(Out, kw_only=True):
    """Names and ages of secrets."""

    secrets: list[SecretInfo]


class Connections(Out, kw_only=True):
    """All connections, and templates for new ones."""

    connections: list[Connection]
    templates: list[ConnectionTemplate]


class Settings(Out, kw_only=True):
    """Settings by their dotted keys."""

    settings: dict[str, Any]


class Rules(Out, kw_only=True):
    """All rules."""

    rules: list[Rule]


class Presets(Out, kw_only=True):
    """All presets."""

    presets: list[Preset]


class Folders(Out, kw_only=True):
    """All folders."""

    folders: list[Folder]


class Memories(Out, kw_only=True):
    """All memories."""

    memories: list[Memory]


class Skills(Out, kw_only=True):
    """All skills."""

    skills: list[Skill]


class SkillAnswer(Out, kw_only=True):
    """A skill with its text."""

    skill: Skill


class Backups(Out, kw_only=True):
    """Backups, newest first."""

    backups: list[Backup]


class CommitList(Out, kw_only=True):
    """Git commits, newest first."""

    commits: list[SessionCommit]


class Projects(Out, kw_only=True):
    """All projects."""

    projects: list[Project]


class SyncState(Out, kw_only=True):
    """How far synchronisation is."""

    remote: str | None
    last_at: int | UnsetType = UNSET
    ahead: int | UnsetType = UNSET


ACKS: dict[str, type[Out]] = {
    "thread.unsubscribe": Done,
    "client.visibility": Done,
    "job.cancel": Done,
    "thread.create": ThreadMade,
    "thread.update": Revised,
    "thread.delete": Done,
    "thread.restore": Done,
    "thread.fork": ThreadForked,
    "thread.selectBranch": BranchSelected,
    "branch.delete": Done,
    "node.delete": Done,
    "node.restore": Done,
    "node.append": NodeAppended,
    "turn.submit": TurnSubmitted,
    "turn.fork": TurnForked,
    "turn.steer": Done,
    "turn.enqueue": TurnQueued,
    "queue.update": TurnQueued,
    "queue.remove": TurnQueued,
    "turn.interrupt": Done,
    "run.resume": Done,
    "run.resolveUncertain": Done,
    "approval.response": Done,
    "interaction.response": Done,
    "browser.response": Done,
    "attachment.begin": AttachmentBegun,
    "attachment.chunk": ChunkReceived,
    "attachment.commit": AttachmentKept,
    "attachment.abort": Done,
    "attachment.delete": Done,
    "attachment.pin": Done,
    "page.capture": PageKept,
    "page.delete": Done,
    "secret.set": Done,
    "secret.delete": Done,
    "vault.unlock": Done,
    "vault.lock": Done,
    "vault.rekey": Done,
    "connection.save": ConnectionSaved,
    "connection.delete": Done,
    "connection.models": JobBegun,
    "connection.verify": JobBegun,
    "settings.set": Done,
    "rule.save": RuleSaved,
    "rule.delete": Done,
    "preset.save": PresetSaved,
    "preset.delete": Done,
    "folder.save": FolderSaved,
    "folder.delete": Done,
    "memory.set": MemorySaved,
    "memory.delete": Done,
    "skill.save": SkillSaved,
    "skill.setEnabled": Done,
    "skill.delete": Done,
    "plugin.inspect": JobBegun,
    "plugin.install": JobBegun,
    "plugin.setEnabled": Done,
    "plugin.remove": Done,
    "backup.create": JobBegun,
    "backup.restore": JobBegun,
    "data.export": JobBegun,
    "data.preflight": JobBegun,
    "data.import": JobBegun,
    "session.rewind": JobBegun,
    "session.undoRewind": JobBegun,
    "project.create": ProjectMade,
    "project.relocate": Done,
    "sync.start": JobBegun,
}
"""Commands, and the members of their acknowledgement."""

RESULTS: dict[str, type[Out]] = {
    "thread.subscribe": ThreadSnapshot,
    "receipt.get": ReceiptState,
    "job.list": Jobs,
    "thread.list": ThreadPart,
    "thread.search": HitPart,
    "thread.page": PathPart,
    "branch.list": Branches,
    "run.get": RunAnswer,
    "attachment.status": ReceivedChunks,
    "attachment.read": AttachmentBytes,
    "attachment.list": AttachmentPart,
    "page.list": PagePart,
    "page.get": PageAnswer,
    "storage.status": StorageUse,
    "secret.list": Secrets,
    "vault.status": VaultState,
    "connection.list": Connections,
    "settings.get": Settings,
    "rule.list": Rules,
    "preset.list": Presets,
    "folder.list": Folders,
    "memory.list": Memories,
    "skill.list": Skills,
    "skill.get": SkillAnswer,
    "backup.list": Backups,
    "session.commits": CommitList,
    "project.list": Projects,
    "sync.status": SyncState,
}
"""Queries, and the shape of their data."""
