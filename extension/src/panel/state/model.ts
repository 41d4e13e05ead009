// The panel's whole state: plain data, changed only by the reducer.
import type { LinkStatus } from '../../channel';
import type {
  ActiveTurn, Connection, ContextBlock, Fault, ItemKind, ModelRef, Op, PendingApproval, PendingInteraction, QueuedTurn,
  RecoverableRun, Siblings, StorageUse, ThreadMeta, ThreadNode, Usage,
} from '../../protocol';

export interface LiveItem {
  readonly itemId: string;
  readonly kind: ItemKind;
  readonly text: string;
  readonly reasoning: string;
  readonly seq: number;
  /** Its node is written; the item stays on show until that node has come. */
  readonly nodeId?: string;
}

export interface Ended {
  readonly turnId: string;
  readonly stopReason: string;
  readonly error?: Fault;
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
  readonly turn: Pick<ActiveTurn, 'runId' | 'turnId' | 'state'> | null;
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
}

export interface Toast {
  readonly id: string;
  readonly text: string;
  readonly kind: 'info' | 'error';
  /** A command that takes the deed back. */
  readonly undo?: { readonly op: 'thread.restore' | 'node.restore'; readonly threadId: string; readonly nodeId?: string };
}

export type Page = 'chat' | 'threads' | 'settings';
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

const NO_LIST: ThreadList = { ids: [], cursor: null, loaded: false, loading: false };

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
    lists: { active: NO_LIST, archived: NO_LIST, trash: NO_LIST },
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
