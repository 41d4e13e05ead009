"""Every op of the contract, one struct each, in files by what they are about; `AnyOp` is their union."""

from sidekeep.model.ops.base import (
    Op,
)
from sidekeep.model.ops.files import (
    AttachmentAbort,
    AttachmentBegin,
    AttachmentChunk,
    AttachmentCommit,
    AttachmentDelete,
    AttachmentKind,
    AttachmentList,
    AttachmentMeta,
    AttachmentPin,
    AttachmentRead,
    AttachmentStatus,
    Cut,
    PageCapture,
    PageDelete,
    PageGet,
    PageList,
    StorageStatus,
)
from sidekeep.model.ops.keeping import (
    BackupCreate,
    BackupList,
    BackupRestore,
    DataExport,
    DataImport,
    DataPreflight,
    ImportFrom,
    ProjectCreate,
    ProjectList,
    ProjectRelocate,
    SessionCommits,
    SessionRewind,
    SessionUndoRewind,
    SyncStart,
    SyncStatus,
)
from sidekeep.model.ops.knowledge import (
    MemoryDelete,
    MemoryList,
    MemorySet,
    PluginInspect,
    PluginInstall,
    PluginRemove,
    PluginSetEnabled,
    SkillDelete,
    SkillGet,
    SkillList,
    SkillSave,
    SkillSetEnabled,
)
from sidekeep.model.ops.port import (
    ClientVisibility,
    CommandIdentity,
    Initialize,
    JobCancel,
    JobList,
    Ping,
    ReceiptGet,
    Subscribe,
    ThreadSubscribe,
    ThreadUnsubscribe,
)
from sidekeep.model.ops.setup import (
    Capabilities,
    ConnectionDelete,
    ConnectionInput,
    ConnectionList,
    ConnectionModel,
    ConnectionModels,
    ConnectionSave,
    ConnectionVerify,
    FolderDelete,
    FolderInput,
    FolderList,
    FolderSave,
    PresetDelete,
    PresetInput,
    PresetList,
    PresetSave,
    Pricing,
    RuleDelete,
    RuleInput,
    RuleList,
    RuleSave,
    SecretDelete,
    SecretHeader,
    SecretList,
    SecretSet,
    SettingsGet,
    SettingsSet,
    VaultLock,
    VaultRekey,
    VaultStatus,
    VaultUnlock,
)
from sidekeep.model.ops.threads import (
    BranchDelete,
    BranchList,
    NodeAppend,
    NodeDelete,
    NodeRestore,
    ThreadCreate,
    ThreadDelete,
    ThreadFork,
    ThreadList,
    ThreadPage,
    ThreadPatch,
    ThreadRestore,
    ThreadSearch,
    ThreadSelectBranch,
    ThreadStatus,
    ThreadUpdate,
)
from sidekeep.model.ops.turns import (
    ApprovalResponse,
    BrowserError,
    BrowserResponse,
    InteractionResponse,
    QueueRemove,
    QueueUpdate,
    RunGet,
    RunResolveUncertain,
    RunResume,
    TurnEnqueue,
    TurnFork,
    TurnInterrupt,
    TurnSteer,
    TurnSubmit,
)

AnyOp = (
    Initialize
    | Ping
    | ThreadSubscribe
    | ThreadUnsubscribe
    | ClientVisibility
    | ReceiptGet
    | JobCancel
    | JobList
    | ThreadCreate
    | ThreadUpdate
    | ThreadDelete
    | ThreadRestore
    | ThreadFork
    | ThreadSelectBranch
    | ThreadList
    | ThreadSearch
    | ThreadPage
    | BranchList
    | BranchDelete
    | NodeDelete
    | NodeRestore
    | NodeAppend
    | TurnSubmit
    | TurnFork
    | TurnSteer
    | TurnEnqueue
    | QueueUpdate
    | QueueRemove
    | TurnInterrupt
    | RunGet
    | RunResume
    | RunResolveUncertain
    | ApprovalResponse
    | InteractionResponse
    | BrowserResponse
    | AttachmentBegin
    | AttachmentChunk
    | AttachmentStatus
    | AttachmentCommit
    | AttachmentAbort
    | AttachmentDelete
    | AttachmentRead
    | AttachmentList
    | AttachmentPin
    | PageCapture
    | PageList
    | PageGet
    | PageDelete
    | StorageStatus
    | SecretSet
    | SecretDelete
    | SecretList
    | VaultStatus
    | VaultUnlock
    | VaultLock
    | VaultRekey
    | ConnectionSave
    | ConnectionList
    | ConnectionDelete
    | ConnectionModels
    | ConnectionVerify
    | SettingsSet
    | SettingsGet
    | RuleSave
    | RuleList
    | RuleDelete
    | PresetSave
    | PresetList
    | PresetDelete
    | FolderSave
    | FolderList
    | FolderDelete
    | MemoryList
    | MemorySet
    | MemoryDelete
    | SkillList
    | SkillGet
    | SkillSave
    | SkillSetEnabled
    | SkillDelete
    | PluginInspect
    | PluginInstall
    | PluginSetEnabled
    | PluginRemove
    | BackupCreate
    | BackupList
    | BackupRestore
    | DataExport
    | DataPreflight
    | DataImport
    | SessionCommits
    | SessionRewind
    | SessionUndoRewind
    | ProjectList
    | ProjectCreate
    | ProjectRelocate
    | SyncStatus
    | SyncStart
)

BY_NAME: dict[str, type[Op]] = {str(op.__struct_config__.tag): op for op in AnyOp.__args__}
"""Every op by its name on the wire."""

__all__ = [
    "BY_NAME",
    "AnyOp",
    "ApprovalResponse",
    "AttachmentAbort",
    "AttachmentBegin",
    "AttachmentChunk",
    "AttachmentCommit",
    "AttachmentDelete",
    "AttachmentKind",
    "AttachmentList",
    "AttachmentMeta",
    "AttachmentPin",
    "AttachmentRead",
    "AttachmentStatus",
    "BackupCreate",
    "BackupList",
    "BackupRestore",
    "BranchDelete",
    "BranchList",
    "BrowserError",
    "BrowserResponse",
    "Capabilities",
    "ClientVisibility",
    "CommandIdentity",
    "ConnectionDelete",
    "ConnectionInput",
    "ConnectionList",
    "ConnectionModel",
    "ConnectionModels",
    "ConnectionSave",
    "ConnectionVerify",
    "Cut",
    "DataExport",
    "DataImport",
    "DataPreflight",
    "FolderDelete",
    "FolderInput",
    "FolderList",
    "FolderSave",
    "ImportFrom",
    "Initialize",
    "InteractionResponse",
    "JobCancel",
    "JobList",
    "MemoryDelete",
    "MemoryList",
    "MemorySet",
    "NodeAppend",
    "NodeDelete",
    "NodeRestore",
    "Op",
    "PageCapture",
    "PageDelete",
    "PageGet",
    "PageList",
    "Ping",
    "PluginInspect",
    "PluginInstall",
    "PluginRemove",
    "PluginSetEnabled",
    "PresetDelete",
    "PresetInput",
    "PresetList",
    "PresetSave",
    "Pricing",
    "ProjectCreate",
    "ProjectList",
    "ProjectRelocate",
    "QueueRemove",
    "QueueUpdate",
    "ReceiptGet",
    "RuleDelete",
    "RuleInput",
    "RuleList",
    "RuleSave",
    "RunGet",
    "RunResolveUncertain",
    "RunResume",
    "SecretDelete",
    "SecretHeader",
    "SecretList",
    "SecretSet",
    "SessionCommits",
    "SessionRewind",
    "SessionUndoRewind",
    "SettingsGet",
    "SettingsSet",
    "SkillDelete",
    "SkillGet",
    "SkillList",
    "SkillSave",
    "SkillSetEnabled",
    "StorageStatus",
    "Subscribe",
    "SyncStart",
    "SyncStatus",
    "ThreadCreate",
    "ThreadDelete",
    "ThreadFork",
    "ThreadList",
    "ThreadPage",
    "ThreadPatch",
    "ThreadRestore",
    "ThreadSearch",
    "ThreadSelectBranch",
    "ThreadStatus",
    "ThreadSubscribe",
    "ThreadUnsubscribe",
    "ThreadUpdate",
    "TurnEnqueue",
    "TurnFork",
    "TurnInterrupt",
    "TurnSteer",
    "TurnSubmit",
    "VaultLock",
    "VaultRekey",
    "VaultStatus",
    "VaultUnlock",
]
