// The list as it is shown: pinned first, then by day, with what is not saved yet laid over it.
import type { ThreadMeta } from '../../protocol';
import { oneLine } from '../../text';
import type { PanelState, Pending, Shelf } from './model';
import { inputText } from './payload';

export interface ListedThread {
  readonly thread: ThreadMeta;
  /** Not on the companion's disk yet, or its newest change is not. */
  readonly unsaved: boolean;
}

export type Group = 'pinned' | 'today' | 'yesterday' | 'week' | 'older';
export interface Section { readonly group: Group; readonly threads: readonly ListedThread[] }

const DAY = 86_400_000;

/** Start of today in local time, from which the groups are counted. */
export function dayStart(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}

function groupOf(thread: ThreadMeta, today: number): Group {
  if (thread.pinned && thread.deletedAt === undefined) return 'pinned';
  if (thread.updatedAt >= today) return 'today';
  if (thread.updatedAt >= today - DAY) return 'yesterday';
  return thread.updatedAt >= today - 6 * DAY ? 'week' : 'older';
}

/** A chat whose creation is still in the outbox. */
function unborn(pending: Pending, all: readonly Pending[]): ThreadMeta | null {
  if (pending.op.type !== 'thread.create' || pending.op.threadId === undefined) return null;
  const { threadId } = pending.op;
  const first = all.find(({ op }) => op.type === 'turn.submit' && op.threadId === threadId)?.op;
  const title = first?.type === 'turn.submit' ? oneLine(inputText(first.input), 50) : '';
  return {
    id: threadId, title, createdAt: pending.at, updatedAt: pending.at, leafId: null, tags: [], pinned: false,
    archived: false, stats: { turns: 0, totalTokens: 0, costUsd: 0 }, scopeOrigins: [], revision: 0,
    agentId: 'main', source: 'panel', status: 'idle', unread: false,
  };
}

/** The thread with the changes that wait in the outbox. */
export function withPending(thread: ThreadMeta, pending: readonly Pending[]): ListedThread {
  let shown = thread;
  let unsaved = false;
  for (const { op, state } of pending) {
    if (!('threadId' in op) || op.threadId !== thread.id || state === 'acked') continue;
    unsaved = true;
    if (op.type === 'thread.update' && (state === 'storing' || state === 'waiting')) {
      shown = { ...shown, ...(op.patch as Partial<ThreadMeta>) };
    }
  }
  return { thread: shown, unsaved };
}

export function shelves(
  threads: PanelState['threads'],
  lists: PanelState['lists'],
  pending: readonly Pending[],
  shelf: Shelf,
  now: number = Date.now(),
): Section[] {
  const today = dayStart(now);
  const listed = lists[shelf].ids.map((id) => threads[id]).filter((thread) => thread !== undefined);
  const known = new Set(listed.map((thread) => thread.id));
  const coming = shelf === 'active' ? pending.map((each) => unborn(each, pending)).filter((each) => each !== null) : [];
  const sections = new Map<Group, ListedThread[]>();
  const all = [...coming.filter((thread) => !known.has(thread.id)), ...listed].sort((a, b) => b.updatedAt - a.updatedAt);
  for (const thread of all) {
    const entry = withPending(thread, pending);
    const group = groupOf(entry.thread, today);
    sections.set(group, [...(sections.get(group) ?? []), entry]);
  }
  const order: readonly Group[] = ['pinned', 'today', 'yesterday', 'week', 'older'];
  return order.flatMap((group) => {
    const found = sections.get(group);
    return found ? [{ group, threads: found }] : [];
  });
}
