// Kept pages: the list by site, one page opened for reading, its copy and its parts, and its end.
import { signal } from '@preact/signals';
import type { Attachment, Page } from '../../protocol';
import { t } from '../i18n';
import { dispatch, state } from '../store';
import { tell, toast } from './actions';
import { bytesOf, learnParts } from './attachments';
import { ask, command, Refusal } from './session';
import { sentence } from './sentences';

export interface PageShelf {
  readonly pages: readonly Page[];
  readonly cursor: string | null;
  readonly state: 'idle' | 'busy' | 'done' | 'failed';
  readonly site: string;
}

export const shelfOfPages = signal<PageShelf>({ pages: [], cursor: null, state: 'idle', site: '' });

const PAGES = 50;
let asked = 0;

export async function loadPages(more: boolean): Promise<void> {
  const { cursor, site, state: before } = shelfOfPages.peek();
  if (more && (cursor === null || before !== 'done')) return;
  asked += 1;
  const mine = asked;
  shelfOfPages.value = { ...shelfOfPages.peek(), state: 'busy' };
  try {
    const wanted = { limit: PAGES, ...(site === '' ? {} : { site }), ...(more && cursor !== null ? { cursor } : {}) };
    const { data } = await ask('page.list', wanted);
    if (mine !== asked) return;
    const above = more ? shelfOfPages.peek().pages : [];
    shelfOfPages.value = { site, pages: [...above, ...data.pages], cursor: data.cursor, state: 'done' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (mine === asked) shelfOfPages.value = { ...shelfOfPages.peek(), state: 'failed' };
  }
}

const SETTLE = 200;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Narrows the list to one site and what lies below it. */
export function narrowTo(site: string): void {
  shelfOfPages.value = { ...shelfOfPages.peek(), site: site.trim() };
  clearTimeout(timer);
  timer = setTimeout(() => void loadPages(false), SETTLE);
}

export interface Reading {
  readonly pageId: string;
  readonly page: Page | null;
  readonly parts: readonly Attachment[];
  readonly problem: string;
}

export const reading = signal<Reading | null>(null);

export function openPage(pageId: string): void {
  dispatch({ type: 'page.shown', page: 'reader' });
  if (reading.peek()?.pageId === pageId && reading.peek()?.page) return;
  reading.value = { pageId, page: null, parts: [], problem: '' };
  void readPage(pageId);
}

/** Reads the page that is open anew; a panel that opens with one asks before it has a host. */
export async function readPage(pageId: string): Promise<void> {
  try {
    const { page } = (await ask('page.get', { pageId })).data;
    if (reading.peek()?.pageId === pageId) reading.value = { pageId, page, parts: [], problem: '' };
    const parts = await learnParts(page.parts);
    if (reading.peek()?.pageId === pageId) reading.value = { pageId, page, parts, problem: '' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const seen = reading.peek();
    if (seen?.pageId !== pageId || seen.page || error.code === 'not_connected') return;
    reading.value = { ...seen, problem: error.code === 'not_found' ? t('pageGone') : sentence(error.code, error.message) };
  }
}

/** The text that was kept as a part, where the record holds none itself. */
export async function textPart(parts: readonly Attachment[]): Promise<string | null> {
  const part = parts.find(({ kind, mime }) => kind === 'page_text' || mime === 'text/markdown' || mime === 'text/plain');
  return part ? (await bytesOf(part.id)).text() : null;
}

export function askToDelete(page: Page): void {
  dispatch({ type: 'dialog', dialog: { kind: 'page.delete', pageId: page.id, title: page.title } });
}

export async function deletePage(pageId: string): Promise<void> {
  if (!(await tell(command('page.delete', { pageId })))) return;
  const { pages } = shelfOfPages.peek();
  shelfOfPages.value = { ...shelfOfPages.peek(), pages: pages.filter((page) => page.id !== pageId) };
  if (reading.peek()?.pageId === pageId) reading.value = null;
  if (state.peek().page === 'reader') dispatch({ type: 'page.shown', page: 'pages' });
  toast(t('pageDeleted'));
}

export async function pinPage(parts: readonly Attachment[], pinned: boolean): Promise<void> {
  for (const { id } of parts) if (!(await tell(command('attachment.pin', { attachmentId: id, pinned })))) return;
  const shown = reading.peek();
  if (shown) reading.value = { ...shown, parts: shown.parts.map((part) => ({ ...part, pinned })) };
  toast(t(pinned ? 'pagePinned' : 'pageUnpinned'));
}

export function canOpen(url: string): boolean {
  return /^https?:/i.test(url);
}

export function openOriginal(url: string): void {
  if (canOpen(url)) void chrome.tabs.create({ url });
}

/** In the full tab there is room to read. */
export function openInTab(pageId: string): void {
  void chrome.tabs.create({ url: chrome.runtime.getURL(`sidepanel.html?tab#page=${pageId}`) });
}

export function openKeptPages(): void {
  dispatch({ type: 'page.shown', page: 'pages' });
}
