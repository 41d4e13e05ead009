// The page beside the panel, kept at hand: a message says which one it was written next to.
import { signal } from '@preact/signals';
import type { BrowserContext } from '../../protocol';
import { pageBeside } from '../capture/tabs';
import { CannotRead } from '../capture/unreadable';

/** Null where there is none, or where the browser does not tell its address. */
export const beside = signal<BrowserContext | null>(null);

export async function lookBeside(): Promise<void> {
  let tab: chrome.tabs.Tab;
  try {
    tab = await pageBeside();
  } catch (error) {
    if (!(error instanceof CannotRead)) throw error;
    beside.value = null;
    return;
  }
  const { id, windowId, url } = tab;
  const told = id !== undefined && url !== undefined && /^(https?|file):/.test(url);
  beside.value = told ? { windowId, tabId: id, url: url.toWellFormed(), title: (tab.title ?? url).toWellFormed() } : null;
}

export function watchBeside(): void {
  const look = (): void => void lookBeside();
  chrome.tabs.onActivated.addListener(look);
  chrome.tabs.onUpdated.addListener(look);
  chrome.tabs.onRemoved.addListener(look);
  chrome.permissions.onAdded.addListener(look);
  // The click on the extension's button lets it see one page, and no event tells of that.
  window.addEventListener('focus', look);
  document.addEventListener('visibilitychange', look);
  look();
}
