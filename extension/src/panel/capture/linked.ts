// The text of a page that was fetched and never run. Loaded only when it is wanted: it brings a reader of its own.
import { Readability } from '@mozilla/readability';
import { markdownOf } from '../../page/markdown';
import type { Fetched } from './fetched';
import type { PageText } from './read';
import { CannotRead } from './unreadable';

export { fetched } from './fetched';

const ENOUGH = 250;

/** Raises CannotRead. */
export async function textOfFetched({ bytes, mime, url }: Fetched): Promise<PageText> {
  const source = await decoded(bytes, mime);
  if (!/html|xml/.test(mime)) {
    if (!/^text\/|json/.test(mime)) throw new CannotRead('no_page_there', mime);
    return { title: url, url, text: source.toWellFormed(), closedFrames: [] };
  }
  const page = new DOMParser().parseFromString(source, 'text/html');
  const base = page.createElement('base');
  base.href = page.querySelector('base[href]') ? new URL(page.querySelector('base[href]')?.getAttribute('href') ?? '', url).href : url;
  for (const each of page.querySelectorAll('base')) each.remove();
  page.head.prepend(base);
  for (const each of page.querySelectorAll('script,style,noscript,template,[hidden],[aria-hidden=true]')) each.remove();
  const options = { charThreshold: ENOUGH, keepClasses: true, serializer: (node: Node) => node as Element };
  const article = new Readability<Element>(page.cloneNode(true) as Document, options).parse();
  const long = (article?.textContent ?? '').trim().length >= ENOUGH;
  const text = markdownOf(long && article?.content ? article.content : page.body, { baseURI: base.href }).toWellFormed();
  if (text === '') throw new CannotRead('no_text');
  return { title: (page.title.trim() || url).toWellFormed(), url, text, closedFrames: [] };
}

/** Text in the encoding that it says it has. */
async function decoded(bytes: Blob, mime: string): Promise<string> {
  const data = await bytes.arrayBuffer();
  const head = new TextDecoder('latin1').decode(data.slice(0, 2_048));
  const [, named = ''] = /charset=["']?([\w-]+)/i.exec(bytes.type) ?? (/html/.test(mime) ? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head) : null) ?? [];
  try {
    return new TextDecoder(named || 'utf-8').decode(data);
  } catch {
    return new TextDecoder('utf-8').decode(data);
  }
}
