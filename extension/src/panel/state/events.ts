// Everything that can happen to the panel's state.
import type { LinkStatus } from '../../channel';
import type { Entry } from '../../outbox/entry';
import type {
  Connection, Folder, Heard, ModelRef, Op, Siblings, StorageUse, ThreadMeta, ThreadNode, ThreadSnapshot,
} from '../../protocol';
import type { Dialog, Draft, Filter, Page, Preferences, Shelf, Toast } from './model';

export type PanelEvent =
  | { type: 'welcome'; clientId: string; storeId: string | null }
  | { type: 'link'; status: LinkStatus }
  | { type: 'host'; event: Heard }
  | { type: 'outbox.read'; entries: readonly Entry[]; now: number }
  | { type: 'command.made'; op: Op; at: number }
  | { type: 'command.stored'; submissionId: string }
  | { type: 'command.dropped'; submissionId: string }
  /** `stay`: what else is on show stays, the list for one. */
  | { type: 'thread.opened'; threadId: string; fresh: boolean; stay?: boolean }
  | { type: 'thread.missing'; threadId: string }
  | { type: 'snapshot.asked' }
  | { type: 'snapshot.wanted'; threadId: string }
  | { type: 'snapshot'; snapshot: ThreadSnapshot }
  | { type: 'page.asked' }
  | {
      type: 'page';
      threadId: string;
      beforeNodeId: string;
      nodes: readonly ThreadNode[];
      before: string | null;
      siblings: Readonly<Record<string, Siblings>>;
    }
  | { type: 'page.failed' }
  | { type: 'list.asked'; shelf: Shelf }
  | { type: 'list'; shelf: Shelf; filter: Filter; threads: readonly ThreadMeta[]; cursor: string | null; more: boolean }
  /** Threads of the list that stand outside what was paged in: the pinned ones, and what has moved to its head. */
  | { type: 'list.found'; shelf: Shelf; filter: Filter; threads: readonly ThreadMeta[] }
  | { type: 'list.failed'; shelf: Shelf }
  | { type: 'filter.chosen'; filter: Filter }
  | { type: 'folders'; folders: readonly Folder[] }
  | { type: 'dialog'; dialog: Dialog | null }
  | { type: 'recovery.dismissed'; runId: string }
  | { type: 'draft'; threadId: string; draft: Draft }
  | { type: 'page.shown'; page: Page }
  | { type: 'shelf.shown'; shelf: Shelf }
  | { type: 'toast'; toast: Toast }
  | { type: 'toast.gone'; id: string }
  | { type: 'connections'; connections: readonly Connection[] }
  | { type: 'model.chosen'; model: ModelRef | null }
  | { type: 'storage'; status: StorageUse }
  | { type: 'preferences'; preferences: Preferences };
