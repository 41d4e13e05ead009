// Runs inside a page: its readable text as Markdown. Sees the page, knows nothing of the panel.
import { Readability } from '@mozilla/readability';
import { type Budget, CLOSED_FRAME, flatClone, isUsedUp } from './flatten';
import { markdownOf } from './markdown';

export { selectedText } from './selection';
export { goTo, leave, prepare } from './strips';
export { framesHere } from './frames';

export interface ReadPage {
  readonly title: string;
  readonly url: string;
  readonly text: string;
  /** Characters of the whole text, when only its beginning is here. */
  readonly cutFrom?: number;
  /** `article`: the main content; `whole`: no main content was found, so all visible text. */
  readonly kind: 'article' | 'whole';
  readonly contentType: string;
  /** The text is drawn as a picture: what could be read is menus at most. */
  readonly drawn: boolean;
  /** Frames of other sites that hold a good part of the page. */
  readonly closedFrames: readonly string[];
  /** This document is in a frame whose page reads it along with its own. */
  readonly readByParent: boolean;
  /** Square pixels of its window. */
  readonly area: number;
}

/** Below this an "article" is more likely a teaser or a cookie notice than what the person reads. */
const ENOUGH = 250;
/** A page whose article is such a small part of its text has no one article (a list, an application). */
const SHARE = 0.12;
/** Finding an article in more than this takes seconds, and such a page is read whole anyway. */
const ELEMENTS_AT_MOST = 12_000;
/** Characters: what the companion takes as one text. */
const LONGEST = 2_500_000;
const MILLISECONDS_AT_MOST = 8_000;

/** Of more than `most` characters only the beginning is taken; `all`: not only the main content. */
export function readPage(most = LONGEST, all = false): ReadPage {
  const area = innerWidth * innerHeight;
  const base = { url: location.href, contentType: document.contentType, drawn: isDrawn(), readByParent: isReadByParent(), area };
  const title = document.title || nameOf(location);
  const plain = document.body?.innerText ?? '';
  if (!/html|xml/.test(document.contentType)) return { ...base, title, ...kept(plain, most), kind: 'whole', closedFrames: [] };
  const budget: Budget = { characters: most, until: performance.now() + MILLISECONDS_AT_MOST };
  const flat = flatClone(document, budget);
  const unread = isUsedUp(budget) ? Math.max(1, plain.length - most) : 0;
  const closedFrames = [...flat.querySelectorAll(`[${CLOSED_FRAME}]`)].map((frame) => frame.getAttribute(CLOSED_FRAME) ?? '');
  const words = lengthOf(flat.body);
  const isSmall = !all && unread === 0 && flat.body.querySelectorAll('*').length <= ELEMENTS_AT_MOST;
  const article = isSmall ? articleOf(flat) : null;
  if (article && lengthOf(article) >= Math.max(ENOUGH, words * SHARE)) {
    return { ...base, title, ...kept(markdownOf(article, document), most, unread), kind: 'article', closedFrames };
  }
  return { ...base, title, ...kept(markdownOf(flat.body, document) || (words > 0 ? plain : ''), most, unread), kind: 'whole', closedFrames };
}

function articleOf(flat: Document): Element | null {
  const copy = flat.cloneNode(true) as Document;
  const options = { charThreshold: ENOUGH, keepClasses: true, serializer: (node: Node) => node as Element };
  return new Readability<Element>(copy, options).parse()?.content ?? null;
}

const lengthOf = (element: Element): number => (element.textContent ?? '').replace(/\s+/g, ' ').length;

function kept(text: string, most: number, unread = 0): Pick<ReadPage, 'text' | 'cutFrom'> {
  const length = text.length + unread;
  if (text.length <= most) return unread > 0 ? { text, cutFrom: length } : { text };
  // Not through the middle of a character.
  const end = /[\uDC00-\uDFFF]/.test(text.charAt(most)) ? most - 1 : most;
  return { text: text.slice(0, end), cutFrom: length };
}

const DRAWING_EDITORS = /^https:\/\/docs\.google\.com\/(document|spreadsheets|presentation)\/d\//;
const DRAWN_SHARE = 0.4;
const MENUS = 600;

/** Editors that draw their text on a canvas leave only menus to be read. */
function isDrawn(): boolean {
  const canvases = [...document.querySelectorAll('canvas')];
  if (canvases.length === 0) return false;
  if (DRAWING_EDITORS.test(location.href)) return true;
  const drawn = canvases.reduce((sum, { clientWidth, clientHeight }) => sum + clientWidth * clientHeight, 0);
  return drawn >= innerWidth * innerHeight * DRAWN_SHARE && (document.body?.innerText ?? '').trim().length < MENUS;
}

function isReadByParent(): boolean {
  try {
    return window.frameElement !== null;
  } catch {
    return false;
  }
}

function nameOf({ pathname, hostname }: Location): string {
  const last = pathname.split('/').findLast((part) => part !== '') ?? hostname;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
