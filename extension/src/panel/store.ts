// The one signal that holds the panel's state, and the slices that views listen to.
import { computed, signal } from '@preact/signals';
import { newId } from '../ids';
import type { PanelEvent } from './state/events';
import { initialState } from './state/model';
import { reduce } from './state/reduce';
import { rowsOf } from './state/rows';
import { shelves } from './state/shelves';

export const state = signal(initialState(newId()));

export function dispatch(event: PanelEvent): void {
  state.value = reduce(state.peek(), event);
}

export const link = computed(() => state.value.link);
export const conversation = computed(() => state.value.conversation);
// What stays the same while an answer grows: views of these are not drawn anew with each piece of it.
export const shownId = computed(() => state.value.conversation.threadId);
export const running = computed(() => state.value.conversation.turn !== null);
export const loaded = computed(() => state.value.conversation.loaded);
export const siblings = computed(() => state.value.conversation.siblings);
export const pending = computed(() => state.value.pending);
export const capabilities = computed(() => state.value.capabilities);
export const threads = computed(() => state.value.threads);
export const filter = computed(() => state.value.filter);
export const folders = computed(() =>
  state.value.folders.toSorted((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true })),
);
export const dialog = computed(() => state.value.dialog);
export const lists = computed(() => state.value.lists);
export const drafts = computed(() => state.value.drafts);
export const toasts = computed(() => state.value.toasts);
export const page = computed(() => state.value.page);
export const shelf = computed(() => state.value.shelf);
export const connections = computed(() => state.value.connections);
export const defaultModel = computed(() => state.value.defaultModel);
export const preferences = computed(() => state.value.preferences);
export const storage = computed(() => state.value.storage);
export const storageWarning = computed(() => state.value.storageWarning);
export const storeId = computed(() => state.value.storeId);

/** The tags of the threads that we know. */
export const tags = computed(() => {
  const all = new Set(Object.values(threads.value).flatMap((each) => (each.deletedAt === undefined ? each.tags : [])));
  return [...all].sort((one, other) => one.localeCompare(other, undefined, { numeric: true }));
});

export const rows = computed(() => rowsOf(conversation.value, pending.value));
export const shown = computed(() => shelves(threads.value, lists.value, pending.value, shelf.value));
export const thread = computed(() => threads.value[shownId.value] ?? null);

/** True when the host offers the op; views hide what it lacks. */
export function can(op: string): boolean {
  return capabilities.value.has(op);
}
