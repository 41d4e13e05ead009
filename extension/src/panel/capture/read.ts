// The readable text of a tab, and what is selected in it.
import type { ReadPage } from '../../page/reader';
import type { ContextBlock } from '../../protocol';
import { cutText } from '../../text';
import { inPage } from './inject';
import { blockedBy, blockedSites, refuseBlocked } from './sites';
import { CannotRead, refusalOf } from './unreadable';

/** Characters of a page that go to a model. */
export const PAGE_LIMIT = 200_000;
/** A frame of another site belongs to what is read when it fills this much of the window; advertisements do not. */
const FRAME_SHARE = 0.15;

type Tab = chrome.tabs.Tab & { id: number };

/** The browser shows these in a viewer of its own, which has no text for us. */
export const looksLikePdf = (url: string | undefined): boolean => /^[^?#]+\.pdf([?#]|$)/i.test(url ?? '');

export interface PageText {
  readonly title: string;
  readonly url: string;
  readonly text: string;
  /** Characters that there were, when not all are in `text`. */
  readonly cutFrom?: number;
  /** Frames that may not be read, each by the site it is of. */
  readonly closedFrames: readonly string[];
}

/** Characters that are taken of a page for a model: what is cut off at its end is no half of the limit. */
export const FOR_A_MODEL = 2 * PAGE_LIMIT;

/** Its text, up to `most` characters, or up to what the page's script gives; `all`: not only the article. Raises CannotRead. */
export async function pageText(tab: Tab, most?: number, all = false): Promise<PageText> {
  await refuseBlocked(tab.url);
  const [page, ...frames] = await inPage(tab, 'readPage', most === undefined ? [] : [most, all], true);
  if (!page) throw new CannotRead(refusalOf('', tab.url));
  const blocked = await blockedSites();
  const here = blockedBy(page.url, blocked);
  if (here !== null) throw new CannotRead('blocked', here);
  if (/pdf/.test(page.contentType)) throw new CannotRead('pdf');
  if (page.drawn) throw new CannotRead('drawn');
  const large = frames.filter((frame) => !frame.readByParent && frame.area >= page.area * FRAME_SHARE && blockedBy(frame.url, blocked) === null);
  const read = large.filter((frame) => frame.text.trim() !== '');
  const text = [page.text, ...read.map(framed)].filter((part) => part.trim() !== '').join('\n\n').trim().toWellFormed();
  if (text === '') throw new CannotRead('no_text');
  const cut = [page, ...read].reduce((sum, part) => sum + ((part.cutFrom ?? part.text.length) - part.text.length), 0);
  const opened = new Set(frames.map((frame) => frame.url));
  return {
    title: (page.title || tab.title || page.url).toWellFormed(),
    url: page.url.toWellFormed(),
    text,
    ...(cut > 0 ? { cutFrom: text.length + cut } : {}),
    closedFrames: page.closedFrames.filter((url) => /^https?:/.test(url) && !opened.has(url)).map((url) => new URL(url).host),
  };
}

function framed(frame: ReadPage): string {
  return `---\n\n*${frame.url}*\n\n${frame.text}`;
}

/** What is selected in the tab, in whichever of its frames. Raises CannotRead. */
export async function selection(tab: Tab, known = ''): Promise<string> {
  await refuseBlocked(tab.url);
  const found = await inPage(tab, 'selectedText', [], true);
  const text = (found.find((each) => each.trim() !== '') ?? known).trim().toWellFormed();
  if (text === '') throw new CannotRead('no_selection');
  return text;
}

export interface Attached {
  readonly block: ContextBlock;
  /** Characters that the text had, when it was cut. */
  readonly cutFrom?: number;
}

export function blockOf(kind: 'page' | 'selection', page: Pick<PageText, 'title' | 'url' | 'text' | 'cutFrom'>): Attached {
  const kept = cutText(page.text, PAGE_LIMIT);
  const total = page.cutFrom ?? page.text.length;
  return {
    block: { kind, title: page.title, url: page.url, text: kept, trust: 'untrusted', provenance: 'page' },
    ...(kept.length < total ? { cutFrom: total } : {}),
  };
}
