// Drafts, preferences and the last thread: small things that this browser remembers for itself.
import { effect } from '@preact/signals';
import { speak } from '../i18n';
import type { Draft, Preferences } from '../state/model';
import { conversation, dispatch, drafts, preferences } from '../store';

const LAST = 'lastThread';
const PREFERENCES = 'preferences';
const draftKey = (threadId: string): string => `draft:${threadId}`;
const SETTLE = 300;

interface LastThread { threadId: string; fresh: boolean }

/** Restores what was there when the panel was last closed. */
export async function remember(threadId: string | null): Promise<void> {
  const kept = await chrome.storage.local.get(null);
  const wanted = (kept[PREFERENCES] as Preferences | undefined) ?? preferences.peek();
  dispatch({ type: 'preferences', preferences: wanted });
  await speak(wanted.language);
  for (const [key, value] of Object.entries(kept)) {
    if (key.startsWith('draft:')) {
      dispatch({ type: 'draft', threadId: key.slice('draft:'.length), draft: { context: [], text: String(value) } });
    }
  }
  const last = kept[LAST] as LastThread | undefined;
  if (threadId) dispatch({ type: 'thread.opened', threadId, fresh: false });
  else if (last) dispatch({ type: 'thread.opened', threadId: last.threadId, fresh: last.fresh });
}

export function keepDrafts(): void {
  const written = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [threadId, draft] of Object.entries(drafts.peek())) store(threadId, draft, written);
  };
  effect(() => {
    if (Object.keys(drafts.value).length > 0) timer ??= setTimeout(flush, SETTLE);
  });
  // A side panel is closed without another word.
  addEventListener('pagehide', flush);
  document.addEventListener('visibilitychange', flush);
}

function store(threadId: string, draft: Draft, written: Map<string, string>): void {
  const text = draft.editing === undefined ? draft.text : '';
  if (written.get(threadId) === text) return;
  written.set(threadId, text);
  if (text === '') void chrome.storage.local.remove(draftKey(threadId));
  else void chrome.storage.local.set({ [draftKey(threadId)]: text });
}

export function keepPlace(): void {
  let place = '';
  effect(() => {
    const { threadId, loaded } = conversation.value;
    const last: LastThread = { threadId, fresh: !loaded };
    const next = JSON.stringify(last);
    if (next === place) return;
    place = next;
    void chrome.storage.local.set({ [LAST]: last });
  });
}

export function keepPreferences(next: Preferences): void {
  void chrome.storage.local.set({ [PREFERENCES]: next });
  void speak(next.language).then(() => dispatch({ type: 'preferences', preferences: next }));
}
