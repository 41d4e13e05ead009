// Runs inside a page: its readable text as Markdown. Sees the page, knows nothing of the panel.
import { Readability } from '@mozilla/readability';
import { markdownOf } from './markdown';
import { flatClone } from './flatten';

export interface ReadPage {
  readonly title: string;
  readonly url: string;
  readonly text: string;
  /** `article`: the main content; `whole`: no main content was found, so all visible text. */
  readonly kind: 'article' | 'whole';
  readonly contentType: string;
}

/** Below this an "article" is more likely a teaser or a cookie notice than what the person reads. */
const ENOUGH = 250;
/** A page whose article is such a small part of its text has no one article (a list, an application). */
const SHARE = 0.12;

export function readPage(): ReadPage {
  const base = { url: location.href, contentType: document.contentType };
  const whole = document.body?.innerText ?? '';
  if (!/html|xml/.test(document.contentType)) {
    return { ...base, title: document.title || nameOf(location), text: whole, kind: 'whole' };
  }
  const title = document.title || nameOf(location);
  const article = new Readability(flatClone(document), { charThreshold: ENOUGH }).parse();
  const plain = article?.textContent?.trim() ?? '';
  if (article?.content && plain.length >= ENOUGH && plain.length >= whole.length * SHARE) {
    return { ...base, title, text: markdownOf(article.content, document), kind: 'article' };
  }
  const body = flatClone(document).body;
  const everything = markdownOf(body.innerHTML, document);
  return { ...base, title, text: everything || whole, kind: 'whole' };
}

function nameOf({ pathname, hostname }: Location): string {
  return decodeURIComponent(pathname.split('/').findLast((part) => part !== '') ?? hostname);
}
