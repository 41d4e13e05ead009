// Keeps the panel's state in step with the host: subscribes, lists, settings, whenever there is a host.
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Heard, ModelRef } from '../../protocol';
import type { Shelf } from '../state/model';
import { can, conversation, dispatch, filter, link, lists, shelf } from '../store';
import { evicted } from './attachments';
import { loadFolders, loadHead, loadList } from './lists';
import { ask, quietly, Refusal } from './session';

const NODE_PAGE = 200;

/** Counts the changes to kept pages, whoever made them. */
export const pagesMoved = signal(0);

let watched: string | null = null;

async function subscribe(threadId: string): Promise<void> {
  dispatch({ type: 'snapshot.asked' });
  if (watched !== null && watched !== threadId) {
    const left = watched;
    void quietly(async () => void (await ask('thread.unsubscribe', { threadId: left })));
  }
  watched = threadId;
  try {
    const { data } = await ask('thread.subscribe', { threadId });
    dispatch({ type: 'snapshot', snapshot: data });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'not_found') dispatch({ type: 'thread.missing', threadId });
  }
}

/** For a thread whose creation has just been sent: watches it before its first turn begins. */
export function watchNew(threadId: string): void {
  void subscribe(threadId);
}

export async function loadOlder(): Promise<void> {
  const { threadId, before, paging, nodes } = conversation.peek();
  const top = nodes[0]?.id;
  if (before === null || paging || top === undefined) return;
  dispatch({ type: 'page.asked' });
  try {
    const { data } = await ask('thread.page', { threadId, beforeNodeId: before, limit: NODE_PAGE });
    dispatch({ type: 'page', threadId, beforeNodeId: top, ...data });
  } catch (error) {
    dispatch({ type: 'page.failed' });
    if (!(error instanceof Refusal)) throw error;
  }
}

export const loadConnections = (): Promise<void> =>
  quietly(async () => {
    if (!can('connection.list')) return;
    const { data } = await ask('connection.list', {});
    dispatch({ type: 'connections', connections: data.connections });
  });

export const loadSettings = (): Promise<void> =>
  quietly(async () => {
    if (!can('settings.get')) return;
    const { data } = await ask('settings.get', {});
    const model = data.settings['models.default'] as ModelRef | undefined;
    dispatch({ type: 'model.chosen', model: model ?? null });
  });

export const loadStorage = (): Promise<void> =>
  quietly(async () => {
    if (!can('storage.status')) return;
    dispatch({ type: 'storage', status: (await ask('storage.status', {})).data });
  });

function sayVisible(): void {
  const visible = document.visibilityState === 'visible';
  if (link.peek().phase === 'ready') void quietly(async () => void (await ask('client.visibility', { visible })));
}

/** Called by the session for events that change more than the state can know from them. */
export function heard(event: Heard): void {
  if (event.type === 'attachment.evicted') evicted(event.attachmentIds);
  if (event.type === 'storage.warning') void loadStorage();
  if (event.type !== 'store.changed') return;
  if (event.kind === 'pages') pagesMoved.value += 1;
  if (event.kind === 'connections') void loadConnections();
  if (event.kind === 'settings') void loadSettings();
  if (event.kind === 'folders') void loadFolders();
}

const SHELVES: readonly Shelf[] = ['active', 'archived', 'trash'];

/** A host is there, perhaps a new one: nothing that we asked an earlier one holds. */
function begin(): void {
  watched = null;
  // What was shown while there was no host may have moved since.
  for (const name of SHELVES) if (name === 'active' || lists.peek()[name].loaded) void loadList(name, false);
  void loadFolders();
  void loadSettings();
  void loadConnections();
  sayVisible();
  const { loaded, stale, loading, threadId } = conversation.peek();
  if (loaded && !stale && !loading) void subscribe(threadId);
}

export function keepInStep(): void {
  let wasReady = false;
  effect(() => {
    const ready = link.value.phase === 'ready';
    if (ready && !wasReady) untracked(begin);
    wasReady = ready;
  });
  effect(() => {
    const { stale, loading, threadId } = conversation.value;
    if (link.value.phase === 'ready' && stale && !loading) untracked(() => void subscribe(threadId));
  });
  effect(() => {
    const wanted = shelf.value;
    void filter.value;
    // Not the lists themselves: one that was refused would be asked for again and again.
    const { loaded, loading } = lists.peek()[wanted];
    if (link.value.phase === 'ready' && !loaded && !loading) untracked(() => void loadList(wanted, false));
  });
  const behind = computed(() => lists.value.active.behind);
  effect(() => {
    if (behind.value) untracked(() => void loadHead());
  });
  document.addEventListener('visibilitychange', sayVisible);
}
