// The panel's whole state: plain data, changed only by the reducer.
import type { LinkStatus } from '../../channel';
import type {
  ActiveTurn, Connection, ContextBlock, Fault, Folder, ItemKind, ModelRef, Op, PendingApproval, PendingInteraction, QueuedTurn,
  RecoverableRun, Siblings, StorageUse, ThreadMeta, ThreadNode, Usage,
} from '../../protocol';

export interface LiveItem {
  readonly itemId: string;
  readonly kind: ItemKind;
  readonly text: string;
  readonly reasoning: string;
  readonly seq: number;
  /** What it does meanwhile, while it says nothing: `note`, `done`, `total`. */
  readonly progress?: unknown;
  /** Its node is written; the item stays on show until that node has come. */
  readonly nodeId?: string;
}

export interface Ended {
  readonly turnId: string;
  readonly stopReason: string;
  readonly error?: Fault;
}

export interface Turn extends Pick<ActiveTurn, 'runId' | 'turnId' | 'state'> {
  /** Seen from its start to go straight on: what it writes has no siblings. */
  readonly linear: boolean;
  /** Takes more words while it runs. */
  readonly steerable: boolean;
}

export interface Conversation {
  readonly threadId: string;
  /** The host has shown us this thread. False for a chat that has no message yet. */
  readonly loaded: boolean;
  readonly loading: boolean;
  readonly missing: boolean;
  readonly nodes: readonly ThreadNode[];
  readonly before: string | null;
  readonly paging: boolean;
  readonly siblings: Readonly<Record<string, Siblings>>;
  readonly turn: Turn | null;
  readonly items: readonly LiveItem[];
  readonly usage: Usage | null;
  readonly ended: Ended | null;
  readonly queue: readonly QueuedTurn[];
  readonly recoverable: readonly RecoverableRun[];
  readonly approvals: readonly PendingApproval[];
  readonly interactions: readonly PendingInteraction[];
  /** Which item or submission a node was shown as before it had its id: keeps its place on the screen. */
  readonly born: Readonly<Record<string, string>>;
  /** Something happened that only a new snapshot can tell. */
  readonly stale: boolean;
}

export type PendingState = 'storing' | 'waiting' | 'acked' | 'refused' | 'old' | 'foreign';

/** A kept command that has no lasting effect on the screen yet. */
export interface Pending {
  readonly submissionId: string;
  readonly op: Op;
  readonly at: number;
  readonly state: PendingState;
  readonly code?: string;
  readonly message?: string;
  readonly userNodeId?: string;
}

export type Shelf = 'active' | 'archived' | 'trash';
export interface ThreadList {
  readonly ids: readonly string[];
  readonly cursor: string | null;
  readonly loaded: boolean;
  readonly loading: boolean;
  /** A thread that we do not know has moved to its head: read its head again. */
  readonly behind: boolean;
}

/** Which threads of a shelf are shown; at most one of the two. */
export interface Filter {
  readonly folderId?: string;
  readonly tag?: string;
}
export const NO_FILTER: Filter = {};

/** What lies over the panel and wants an answer first. */
export type Dialog =
  | { readonly kind: 'organise' | 'purge' | 'branches' | 'history'; readonly threadId: string }
  | { readonly kind: 'rewind' | 'regenerate'; readonly threadId: string; readonly nodeId: string }
  /** Null: the page beside the panel. */
  | { readonly kind: 'keep'; readonly tabId: number | null }
  | { readonly kind: 'attachment'; readonly attachmentId: string }
  | { readonly kind: 'page.delete'; readonly pageId: string; readonly title: string }
  | { readonly kind: 'folder.save'; readonly folderId: string | null }
  | { readonly kind: 'folder.delete'; readonly folderId: string };

/** A command that takes a deed back. */
export type Undo =
  | { readonly op: 'thread.restore'; readonly threadId: string }
  | { readonly op: 'thread.update'; readonly threadId: string; readonly patch: { readonly archived: boolean } }
  | { readonly op: 'node.restore'; readonly threadId: string; readonly nodeId: string }
  | { readonly op: 'branch.restore'; readonly threadId: string; readonly leafId: string }
  | { readonly op: 'session.undoRewind'; readonly threadId: string; readonly undoId: string };

export interface Toast {
  readonly id: string;
  readonly text: string;
  readonly kind: 'info' | 'error';
  readonly undo?: Undo;
}

export type Page = 'chat' | 'threads' | 'settings' | 'search' | 'pages' | 'reader';
export type Theme = 'auto' | 'light' | 'dark';
export type Language = 'auto' | 'en' | 'zh_CN';

export interface Preferences {
  readonly theme: Theme;
  readonly language: Language;
}

export interface Draft {
  readonly text: string;
  readonly context: readonly ContextBlock[];
  /** The message that is being edited; sent as its sibling. */
  readonly editing?: string;
}
export const NO_DRAFT: Draft = { text: '', context: [] };

export interface PanelState {
  readonly link: LinkStatus;
  readonly profileId: string;
  readonly storeId: string | null;
  readonly capabilities: ReadonlySet<string>;
  readonly page: Page;
  readonly shelf: Shelf;
  readonly threads: Readonly<Record<string, ThreadMeta>>;
  readonly lists: Readonly<Record<Shelf, ThreadList>>;
  readonly filter: Filter;
  readonly folders: readonly Folder[];
  readonly dialog: Dialog | null;
  readonly conversation: Conversation;
  readonly pending: readonly Pending[];
  readonly drafts: Readonly<Record<string, Draft>>;
  readonly toasts: readonly Toast[];
  readonly connections: readonly Connection[];
  readonly defaultModel: ModelRef | null;
  readonly storage: StorageUse | null;
  readonly storageWarning: number | null;
  readonly preferences: Preferences;
}

export const NO_LIST: ThreadList = { ids: [], cursor: null, loaded: false, loading: false, behind: false };
export const NO_LISTS: Readonly<Record<Shelf, ThreadList>> = { active: NO_LIST, archived: NO_LIST, trash: NO_LIST };

export function emptyConversation(threadId: string): Conversation {
  return {
    threadId,
    loaded: false,
    loading: false,
    missing: false,
    nodes: [],
    before: null,
    paging: false,
    siblings: {},
    turn: null,
    items: [],
    usage: null,
    ended: null,
    queue: [],
    recoverable: [],
    approvals: [],
    interactions: [],
    born: {},
    stale: false,
  };
}

export function initialState(threadId: string): PanelState {
  return {
    link: { phase: 'connecting' },
    profileId: '',
    storeId: null,
    capabilities: new Set(),
    page: 'chat',
    shelf: 'active',
    threads: {},
    lists: NO_LISTS,
    filter: NO_FILTER,
    folders: [],
    dialog: null,
    conversation: emptyConversation(threadId),
    pending: [],
    drafts: {},
    toasts: [],
    connections: [],
    defaultModel: null,
    storage: null,
    storageWarning: null,
    preferences: { theme: 'auto', language: 'auto' },
  };
}
