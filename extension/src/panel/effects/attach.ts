// "Attach this page": permission, reading with a deadline, and why it did not work when it did not.
import type { ReadPage } from '../../page/reader';
import type { ContextBlock } from '../../protocol';
import { cutText } from '../../text';
import { refusalOf, type Unreadable } from './unreadable';

export const PAGE_LIMIT = 200_000;
const DEADLINE = 8_000;

export interface Attached {
  readonly block: ContextBlock;
  /** Characters that the page had, when it was cut. */
  readonly cutFrom?: number;
}

export class CannotRead extends Error {
  constructor(readonly why: Unreadable) {
    super(why);
  }
}

/** The tab that the person looks at: beside the panel, or last used when the panel is a tab itself. */
export async function pageBeside(): Promise<chrome.tabs.Tab> {
  const own = await chrome.tabs.getCurrent();
  if (!own) {
    const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
    if (tab) return tab;
  }
  const tabs = await chrome.tabs.query({});
  const others = tabs.filter((tab) => tab.id !== own?.id && !tab.url?.startsWith(chrome.runtime.getURL('')));
  const [latest] = others.toSorted((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
  if (!latest) throw new CannotRead('no_tab');
  return latest;
}

/**
 * Reads a page. Call it first thing in a click handler: without access to the page it asks for it, which the browser
 * allows only in the moment of a click.
 */
export async function attachPage(tabId?: number): Promise<Attached> {
  const tab = tabId === undefined ? await pageBeside() : await chrome.tabs.get(tabId);
  if (tab.id === undefined) throw new CannotRead('no_tab');
  try {
    return await readTab(tab);
  } catch (error) {
    if (!(error instanceof CannotRead) || error.why !== 'no_access') throw error;
    if (!(await mayAsk(tab))) throw error;
    return await readTab(tab);
  }
}

async function mayAsk(tab: chrome.tabs.Tab): Promise<boolean> {
  const origins = tab.url && /^https?:/.test(tab.url) ? [`${new URL(tab.url).origin}/*`] : ['<all_urls>'];
  try {
    return await chrome.permissions.request({ origins });
  } catch {
    // Not in the moment of a click (from the context menu, say).
    return false;
  }
}

async function readTab(tab: chrome.tabs.Tab): Promise<Attached> {
  const target = { tabId: tab.id as number };
  const reading = (async () => {
    await chrome.scripting.executeScript({ target, files: ['page-reader.js'] });
    const [frame] = await chrome.scripting.executeScript({ target, func: readInPage });
    return frame?.result as ReadPage | undefined;
  })();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CannotRead('too_slow')), DEADLINE);
  });
  try {
    return blockOf(await Promise.race([reading, late]), tab);
  } catch (error) {
    throw error instanceof CannotRead ? error : new CannotRead(refusalOf(String(error), tab.url));
  } finally {
    clearTimeout(timer);
  }
}

/** Runs in the page, so it uses nothing from here. */
function readInPage(): unknown {
  return (globalThis as unknown as { sidekeepReader: { readPage(): unknown } }).sidekeepReader.readPage();
}

function blockOf(page: ReadPage | undefined, tab: chrome.tabs.Tab): Attached {
  if (!page) throw new CannotRead(refusalOf('', tab.url));
  if (/pdf/.test(page.contentType)) throw new CannotRead('pdf');
  const text = page.text.trim().toWellFormed();
  if (text === '') throw new CannotRead('no_text');
  const kept = cutText(text, PAGE_LIMIT);
  return {
    block: {
      kind: 'page',
      title: (page.title || tab.title || page.url).toWellFormed(),
      url: page.url.toWellFormed(),
      text: kept,
      trust: 'untrusted',
      provenance: 'page',
    },
    ...(kept.length < text.length ? { cutFrom: text.length } : {}),
  };
}
