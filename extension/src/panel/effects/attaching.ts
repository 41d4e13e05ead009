// Puts what was captured from pages into the draft, and says why when nothing could be had.
import { signal } from '@preact/signals';
import type { ContextBlock } from '../../protocol';
import { shown } from '../capture/cuts';
import type { Picture } from '../capture/picture';
import { type Attached, blockOf, FOR_A_MODEL, looksLikePdf, pageText, selection } from '../capture/read';
import { siteOf } from '../capture/sites';
import { allow, originsOf, tabOf } from '../capture/tabs';
import { CannotRead, WHY } from '../capture/unreadable';
import { t } from '../i18n';
import { NO_DRAFT } from '../state/model';
import { conversation, dispatch, drafts } from '../store';
import { sendDraft, toast } from './actions';
import { sentence } from './sentences';
import { command, Refusal } from './session';
import { upload, uploadLimit } from './uploads';

export const attaching = signal(false);

/** A capture that waits for a click, since only then the browser asks for permission. */
export interface WaitingAccess {
  readonly site: string;
  readonly origins: string[];
  run(): Promise<boolean>;
}
export const accessWanted = signal<WaitingAccess | null>(null);

/** How long the text was of which a block holds the beginning. */
export const cuts = new WeakMap<ContextBlock, number>();
/** What a block without text is, for its chip. */
export const details = new WeakMap<ContextBlock, string>();

function change(update: (draft: typeof NO_DRAFT) => typeof NO_DRAFT): void {
  const { threadId } = conversation.peek();
  dispatch({ type: 'draft', threadId, draft: update(drafts.peek()[threadId] ?? NO_DRAFT) });
}

const isSamePage = (one: ContextBlock, other: ContextBlock): boolean =>
  one.kind === 'page' && other.kind === 'page' && one.url === other.url && one.text !== undefined && other.text !== undefined;

export function addContext(block: ContextBlock): void {
  // The same page again is its newer state.
  change((draft) => ({ ...draft, context: [...draft.context.filter((each) => !isSamePage(each, block)), block] }));
}

export function removeContext(block: ContextBlock): void {
  change((draft) => ({ ...draft, context: draft.context.filter((each) => each !== block) }));
  // Only what was captured for this draft: the blocks of a sent message that is edited belong to that message.
  if (block.attachmentId !== undefined && details.has(block)) {
    void command('attachment.delete', { attachmentId: block.attachmentId }).catch(() => undefined);
  }
}

function add({ block, cutFrom }: Attached): void {
  if (cutFrom !== undefined) cuts.set(block, cutFrom);
  addContext(block);
}

export function sayWhy(error: unknown): void {
  if (error instanceof Refusal) toast(sentence(error.code, error.message), 'error');
  else if (error instanceof CannotRead) toast(t(WHY[error.why], error.about), 'error');
  else toast(t('readUnknown'), 'error');
}

/** Does one capture at a time; where permission is missing, asks for it, now or at the next click. */
async function attempt(origins: () => Promise<string[]> | string[], work: () => Promise<void>): Promise<boolean> {
  if (attaching.peek()) return false;
  attaching.value = true;
  accessWanted.value = null;
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof CannotRead) || error.why !== 'no_access') {
      sayWhy(error);
      return false;
    }
    return await again(await origins(), work, error);
  } finally {
    attaching.value = false;
  }
}

async function again(origins: string[], work: () => Promise<void>, error: CannotRead): Promise<boolean> {
  const allowed = await allow({ origins });
  if (allowed === 'yes') {
    try {
      await work();
      return true;
    } catch (next) {
      sayWhy(next);
      return false;
    }
  }
  if (allowed === 'no') sayWhy(error);
  else {
    const [first = ''] = origins;
    accessWanted.value = { origins, site: first === '<all_urls>' ? t('allSites') : siteOf(first), run: () => attempt(() => origins, work) };
  }
  return false;
}

/** The click that was waited for. */
export async function giveAccess(): Promise<void> {
  const wanted = accessWanted.peek();
  if (!wanted) return;
  const allowed = await allow({ origins: wanted.origins });
  accessWanted.value = null;
  if (allowed === 'yes') await wanted.run();
}

const originsOfTab = (tabId?: number) => async (): Promise<string[]> => originsOf((await tabOf(tabId)).url);

/** Must be called first thing in a click handler: it may have to ask for permission. */
export function attachHere(tabId?: number): Promise<boolean> {
  return attempt(originsOfTab(tabId), async () => {
    const tab = await tabOf(tabId);
    try {
      if (looksLikePdf(tab.url)) throw new CannotRead('pdf');
      add(blockOf('page', await pageText(tab, FOR_A_MODEL)));
    } catch (error) {
      if (!(error instanceof CannotRead) || error.why !== 'pdf') throw error;
      await attachPdf(tab);
    }
  });
}

async function attachPdf(tab: chrome.tabs.Tab): Promise<void> {
  const { readPdf } = await import('../capture/pdf');
  const { attachmentId, title, url, pages, cut } = await readPdf(tab);
  const block: ContextBlock = { kind: 'page', title, url, attachmentId, trust: 'untrusted', provenance: 'page' };
  const detail = t('chipPdf', pages.toLocaleString());
  details.set(block, cut === undefined ? detail : `${detail}, ${t('chipCut', cut)}`);
  addContext(block);
}

export function attachSelection(tabId?: number, known = ''): Promise<boolean> {
  return attempt(originsOfTab(tabId), async () => {
    const tab = await tabOf(tabId);
    const url = (tab.url ?? '').toWellFormed();
    add(blockOf('selection', { title: (tab.title ?? url).toWellFormed(), url, text: await selection(tab, known) }));
  });
}

/** Pictures need more of the browser than one site. */
const EVERYWHERE = ['<all_urls>'];

export function attachPicture(whole: boolean, tabId?: number): Promise<boolean> {
  return attempt(() => EVERYWHERE, async () => {
    const [tab, { wholePicture, visiblePicture }] = await Promise.all([tabOf(tabId), import('../capture/picture')]);
    const picture = whole ? await wholePicture(tab) : await visiblePicture(tab);
    const url = tab.url ?? '';
    await attachImageBytes('screenshot', picture, t('pictureOf', tab.title || url), url);
  });
}

export function attachLink(url: string): Promise<boolean> {
  return attempt(() => originsOf(url), async () => {
    const { textOfFetched, fetched } = await import('../capture/linked');
    add(blockOf('page', await textOfFetched(await fetched(url, uploadLimit()))));
  });
}

export function attachImage(url: string, tabId: number): Promise<boolean> {
  return attempt(() => originsOf(url), async () => {
    const [tab, { inImage }] = await Promise.all([tabOf(tabId), import('../capture/image')]);
    const picture = await inImage(url, tab, uploadLimit());
    await attachImageBytes('image', picture, picture.name || t('pictureOf', tab.title || ''), /^https?:/.test(url) ? url : (tab.url ?? ''));
  });
}

async function attachImageBytes(kind: 'screenshot' | 'image', picture: Picture, name: string, address: string): Promise<void> {
  const [title, url] = [name.toWellFormed(), address.toWellFormed()];
  const meta = { url, title, w: picture.width, h: picture.height };
  const about = { kind, mime: picture.bytes.type, provenance: 'page', trust: 'untrusted', sourceRef: url, meta } as const;
  const { attachmentId } = await upload({ bytes: picture.bytes, ...about });
  const block: ContextBlock = { kind: 'page', title, url, attachmentId, trust: 'untrusted', provenance: 'page' };
  const detail = t('chipPicture', picture.width, picture.height);
  details.set(block, picture.cut ? `${detail}, ${t('chipCut', shown([picture.cut]))}` : detail);
  addContext(block);
}

export async function summariseHere(): Promise<void> {
  if (!(await attachHere())) return;
  change((draft) => ({ ...draft, text: t('summarisePage') }));
  sendDraft();
}
