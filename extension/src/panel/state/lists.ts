// The thread lists: active, archived, trash, kept in step with the host's broadcasts.
import type { Folder, Heard, ThreadMeta, ThreadMetaPart } from '../../protocol';
import { type Filter, NO_FILTER, NO_LISTS, type PanelState, type Shelf, type ThreadList } from './model';

export function shelfOf(thread: ThreadMeta): Shelf {
  if (thread.deletedAt !== undefined) return 'trash';
  return thread.archived ? 'archived' : 'active';
}

function passes(thread: ThreadMeta, { folderId, tag }: Filter): boolean {
  return (folderId === undefined || thread.folderId === folderId) && (tag === undefined || thread.tags.includes(tag));
}

function put(state: PanelState, shelf: Shelf, list: ThreadList): PanelState {
  return { ...state, lists: { ...state.lists, [shelf]: list } };
}

/** Moves a thread's id to the list where it belongs, if that list is loaded; order is made on showing. */
function placed(state: PanelState, thread: ThreadMeta): PanelState {
  const home = passes(thread, state.filter) ? shelfOf(thread) : null;
  let next: PanelState = { ...state, threads: { ...state.threads, [thread.id]: thread } };
  for (const shelf of ['active', 'archived', 'trash'] as const) {
    const list = next.lists[shelf];
    const at = list.ids.indexOf(thread.id);
    if (shelf === home && at < 0 && list.loaded) next = put(next, shelf, { ...list, ids: [...list.ids, thread.id] });
    else if (shelf !== home && at >= 0) next = put(next, shelf, { ...list, ids: list.ids.toSpliced(at, 1) });
  }
  return next;
}

export function listed(
  state: PanelState,
  shelf: Shelf,
  threads: readonly ThreadMeta[],
  cursor: string | null,
  more: boolean,
): PanelState {
  const metas = { ...state.threads };
  for (const thread of threads) metas[thread.id] = thread;
  const ids = new Set([...(more ? state.lists[shelf].ids : []), ...threads.map((thread) => thread.id)]);
  return put({ ...state, threads: metas }, shelf, { ids: [...ids], cursor, loaded: true, loading: false, behind: false });
}

export function found(state: PanelState, shelf: Shelf, threads: readonly ThreadMeta[]): PanelState {
  const next = threads.reduce(withThread, state);
  return put(next, shelf, { ...next.lists[shelf], behind: false });
}

export function filtered(state: PanelState, filter: Filter): PanelState {
  return { ...state, filter, lists: NO_LISTS };
}

/** A folder that is gone cannot be looked into any more. */
export function withFolders(state: PanelState, folders: readonly Folder[]): PanelState {
  const { folderId } = state.filter;
  const lost = folderId !== undefined && !folders.some((folder) => folder.id === folderId);
  return lost ? { ...filtered(state, NO_FILTER), folders } : { ...state, folders };
}

/** Something new was said in a thread that lies further down than we have read. */
function outside(state: PanelState, patch: ThreadMetaPart): PanelState {
  const { active } = state.lists;
  return patch.updatedAt === undefined || !active.loaded ? state : put(state, 'active', { ...active, behind: true });
}

export function listAsked(state: PanelState, shelf: Shelf, loading: boolean): PanelState {
  return put(state, shelf, { ...state.lists[shelf], loading });
}

export function withThread(state: PanelState, thread: ThreadMeta): PanelState {
  const known = state.threads[thread.id];
  return known && known.revision > thread.revision ? state : placed(state, thread);
}

/** Null in a patch clears the member. */
function patched(thread: ThreadMeta, patch: ThreadMetaPart, revision: number): ThreadMeta {
  const all = { ...thread, ...patch, revision };
  return Object.fromEntries(
    Object.entries(all).filter(([member, value]) => value !== null || member === 'leafId'),
  ) as unknown as ThreadMeta;
}

export function withListEvent(state: PanelState, event: Heard): PanelState {
  switch (event.type) {
    case 'thread.created':
      return withThread(state, event.thread);
    case 'thread.updated': {
      const known = state.threads[event.threadId];
      if (!known) return outside(state, event.patch);
      if (event.revision < known.revision) return state;
      return placed(state, patched(known, event.patch, event.revision));
    }
    case 'thread.deleted': {
      const { threadId } = event;
      const known = state.threads[threadId];
      if (!known) return state;
      if (event.purged) return without(state, threadId);
      return placed(state, { ...known, deletedAt: known.deletedAt ?? Date.now() });
    }
    default:
      return state;
  }
}

/** Purged: there is nothing to show, and nothing to take back. */
function without(state: PanelState, threadId: string): PanelState {
  const { [threadId]: _, ...threads } = state.threads;
  const toasts = state.toasts.filter((toast) => toast.undo?.threadId !== threadId);
  let next: PanelState = { ...state, threads, toasts };
  for (const shelf of ['active', 'archived', 'trash'] as const) {
    const list = next.lists[shelf];
    if (list.ids.includes(threadId)) next = put(next, shelf, { ...list, ids: list.ids.filter((id) => id !== threadId) });
  }
  return next;
}
