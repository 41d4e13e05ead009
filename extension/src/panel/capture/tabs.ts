// Tabs: the one that a person looks at, others to choose from, and the permission to read them.
import { CannotRead } from './unreadable';

const isOwn = (tab: chrome.tabs.Tab): boolean => tab.url?.startsWith(chrome.runtime.getURL('')) ?? false;
const byUse = (one: chrome.tabs.Tab, other: chrome.tabs.Tab): number => (other.lastAccessed ?? 0) - (one.lastAccessed ?? 0);

/** The tab beside the panel, or the last used one when the panel is a tab itself. */
export async function pageBeside(): Promise<chrome.tabs.Tab> {
  const own = await chrome.tabs.getCurrent();
  if (!own) {
    const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
    if (tab) return tab;
  }
  const tabs = await chrome.tabs.query({});
  const [latest] = tabs.filter((tab) => tab.id !== own?.id && !isOwn(tab)).toSorted(byUse);
  if (!latest) throw new CannotRead('no_tab');
  return latest;
}

export async function tabOf(tabId: number | undefined): Promise<chrome.tabs.Tab & { id: number }> {
  const tab = tabId === undefined ? await pageBeside() : await found(tabId);
  if (tab.id === undefined) throw new CannotRead('no_tab');
  return tab as chrome.tabs.Tab & { id: number };
}

async function found(tabId: number): Promise<chrome.tabs.Tab> {
  try {
    return await chrome.tabs.get(tabId);
  } catch {
    throw new CannotRead('gone');
  }
}

/** All tabs that hold a page, last used first. Without permission their titles and addresses are not told. */
export async function tabsToOffer(): Promise<chrome.tabs.Tab[]> {
  const tabs = await chrome.tabs.query({});
  return tabs.filter((tab) => tab.id !== undefined && (tab.url === undefined || /^(https?|file):/.test(tab.url))).toSorted(byUse);
}

/** What has to be asked for to read this address; all sites where the browser does not tell it. */
export function originsOf(url: string | undefined): string[] {
  return url !== undefined && /^https?:/.test(url) ? [`${new URL(url).protocol}//${new URL(url).hostname}/*`] : ['<all_urls>'];
}

/** Does `work`; where the page may not be read yet, asks for it and does it again. */
export async function withAccess<T>(tab: chrome.tabs.Tab, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CannotRead) || error.why !== 'no_access') throw error;
    if ((await allow({ origins: originsOf(tab.url) })) !== 'yes') throw error;
    return work();
  }
}

/** `not_now`: the browser asks only in the moment of a click, and this was none. */
export type Allowed = 'yes' | 'no' | 'not_now';

export async function allow(permissions: chrome.permissions.Permissions): Promise<Allowed> {
  try {
    return (await chrome.permissions.request(permissions)) ? 'yes' : 'no';
  } catch {
    return 'not_now';
  }
}
