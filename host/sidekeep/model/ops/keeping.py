"""Ops on backups, exports, imports, session repositories, projects and synchronisation."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from sidekeep.model.limits import LIST_MAX
from sidekeep.model.ops.base import Op
from sidekeep.model.payloads import Id, Name

ImportFrom = Literal[
    "auto", "sidekeep", "chatgpt", "claude", "openwebui", "librechat", "page-assist", "panelot", "openprogram"
]
Path = Annotated[str, Meta(min_length=1, max_length=4096)]


class BackupCreate(Op, tag="backup.create", kw_only=True):
    """A backup of the whole store: a job."""


class BackupList(Op, tag="backup.list", kw_only=True):
    """The backups that are there."""


class BackupRestore(Op, tag="backup.restore", kw_only=True):
    """A backup merged in, or in place of the store: a job."""

    backup_id: Name
    mode: Literal["merge", "replace"]


class DataExport(Op, tag="data.export", kw_only=True):
    """Threads, or everything, as a file: a job."""

    thread_ids: list[Id] | UnsetType = UNSET
    format: Literal["md", "html", "json", "sidekeep"]


class DataPreflight(Op, tag="data.preflight", kw_only=True):
    """What an import would do: a job."""

    attachment_id: Id
    source: ImportFrom = field(default="auto", name="from")


class DataImport(Op, tag="data.import", kw_only=True):
    """An import: a job with a report for each item."""

    attachment_id: Id
    source: ImportFrom = field(default="auto", name="from")


class SessionCommits(Op, tag="session.commits", kw_only=True):
    """The Git commits of a thread's repository, newest first."""

    thread_id: Id
    limit: Annotated[int, Meta(ge=1, le=LIST_MAX)] | UnsetType = UNSET


class SessionRewind(Op, tag="session.rewind", kw_only=True):
    """Files and head back to before a message of the user: a job.

    Its data: `{"files": [{"path", "action" (`restore`, `delete`), "turnId", "changedSince"?}], "headId", "text",
    "undoId"?}`; with `dryRun` nothing is done.
    """

    thread_id: Id
    node_id: Id
    dry_run: bool = False
    files: bool | UnsetType = UNSET


class SessionUndoRewind(Op, tag="session.undoRewind", kw_only=True):
    """Takes a rewind back: a job. Its data: `{"files": [{"path", "action"}], "headId"}`."""

    thread_id: Id
    undo_id: Id


class ProjectList(Op, tag="project.list", kw_only=True):
    """All projects, with the default one."""


class ProjectCreate(Op, tag="project.create", kw_only=True):
    """A project for a folder."""

    path: Path
    name: Name | UnsetType = UNSET


class ProjectRelocate(Op, tag="project.relocate", kw_only=True):
    """The folder of a project has moved."""

    project_id: Name
    path: Path


class SyncStatus(Op, tag="sync.status", kw_only=True):
    """How far synchronisation is."""


class SyncStart(Op, tag="sync.start", kw_only=True):
    """Union with a Git remote (the one used last): a job.

    Its data: `{"remote", "sessions", "sent", "received", "nodes", "uploads", "removed", "faults": {session: [text]}}`.
    """

    remote: Annotated[str, Meta(max_length=4096)] | UnsetType = UNSET
