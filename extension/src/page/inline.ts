// Text within a paragraph as Markdown: emphasis, code, links, pictures by their words, ruby, formulas.
import { APART } from './flatten';

export interface Place {
  /** Against which addresses are resolved. */
  readonly baseURI: string;
}

const CONTROLS: ReadonlySet<string> = new Set(['button', 'input', 'select', 'textarea', 'datalist', 'progress', 'meter']);
const SILENT: ReadonlySet<string> = new Set([
  ...CONTROLS, 'script', 'style', 'noscript', 'template', 'head', 'link', 'meta', 'base', 'svg', 'canvas', 'object', 'embed', 'iframe', 'frame', 'rp',
]);
const MARKS: Readonly<Record<string, string>> = { b: '**', strong: '**', i: '_', em: '_', del: '~~', s: '~~', strike: '~~' };

export const isSilent = (element: Element): boolean => SILENT.has(element.localName);

/** White space folded as a page folds it (other blanks are characters), no blank at either end of a line. */
export function paragraphOf(text: string): string {
  return text.replace(/[ \t\r\f]+/g, ' ').replace(/ ?\n ?/g, '\n').replace(/^[ \n]+|[ \n]+$/g, '');
}

/** Only what would be read as a mark: pages of code and names stay searchable as they are. */
export function escaped(text: string): string {
  return text.replace(/[*`]|\\(?=[*`<\\])|<(?=[a-z/!?])/gi, '\\$&');
}

export function inlineOf(nodes: Iterable<Node>, place: Place): string {
  let text = '';
  for (const node of nodes) text += inlineNode(node, place);
  return text;
}

function inlineNode(node: Node, place: Place): string {
  if (node.nodeType === Node.TEXT_NODE) return escaped((node.nodeValue ?? '').replace(/[ \t\n\r\f]+/g, ' '));
  if (node.nodeType !== Node.ELEMENT_NODE) return '';
  const element = node as HTMLElement;
  if (isSilent(element)) return '';
  const text = inlineElement(element, place);
  return element.hasAttribute(APART) && text !== '' ? ` ${text} ` : text;
}

function inlineElement(element: HTMLElement, place: Place): string {
  switch (element.localName) {
    case 'br':
      return '\n';
    case 'wbr':
      return '';
    case 'img':
    case 'picture':
    case 'video':
    case 'audio':
      return pictureOf(element);
    case 'code':
    case 'kbd':
    case 'samp':
    case 'tt':
      return codeOf(element.textContent ?? '');
    case 'a':
      return linkOf(inlineOf(element.childNodes, place), element, place);
    case 'ruby':
      return rubyOf(element);
    case 'math':
      return formulaOf(element);
    case 'q':
      return `“${inlineOf(element.childNodes, place)}”`;
  }
  const inner = inlineOf(element.childNodes, place);
  const mark = MARKS[element.localName];
  return mark === undefined ? inner : marked(inner, mark);
}

/** Marks stand at the words: with a blank inside of them they would be no marks. */
function marked(text: string, mark: string): string {
  const words = text.trim();
  if (words === '' || words.includes('\n') || words.startsWith(mark[0] as string)) return text;
  const at = text.indexOf(words);
  return `${text.slice(0, at)}${mark}${words}${mark}${text.slice(at + words.length)}`;
}

export function codeOf(text: string): string {
  const flat = text.replace(/\s+/g, ' ');
  const words = flat.trim();
  if (words === '') return flat;
  const longest = Math.max(0, ...[...words.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = words.startsWith('`') || words.endsWith('`') ? ' ' : '';
  return `${flat.startsWith(' ') ? ' ' : ''}${fence}${pad}${words}${pad}${fence}${flat.endsWith(' ') ? ' ' : ''}`;
}

export function targetOf(anchor: Element, place: Place): string | null {
  const target = anchor.getAttribute('href')?.trim() ?? '';
  if (target === '' || target.startsWith('#') || /^(javascript|data|blob):/i.test(target)) return null;
  const url = URL.canParse(target, place.baseURI) ? new URL(target, place.baseURI).href : target;
  return url.replace(/[\s()<>]/g, (mark) => (mark === '(' ? '%28' : mark === ')' ? '%29' : encodeURIComponent(mark)));
}

export function linkOf(text: string, anchor: Element, place: Place): string {
  const words = text.trim();
  const target = targetOf(anchor, place);
  if (words === '' || target === null) return /^[#¶§]$/u.test(words) ? '' : text;
  return text.replace(words, () => `[${words.replace(/\n+/g, ' ')}](${target})`);
}

function pictureOf(element: HTMLElement): string {
  const named = element.localName === 'picture' ? element.querySelector('img') : element;
  const words = (named?.getAttribute('alt') ?? named?.getAttribute('aria-label') ?? '').replace(/\s+/g, ' ').trim();
  return words === '' ? '' : `[image: ${escaped(words)}]`;
}

/** The words whole, then how they are read: a word that is cut up by readings is found by nobody. */
function rubyOf(element: HTMLElement): string {
  const reading = (node: Node): string => (node.textContent ?? '').replace(/\s+/g, '');
  const readings = [...element.querySelectorAll('rt')].map(reading).join('');
  const copy = element.cloneNode(true) as HTMLElement;
  for (const part of copy.querySelectorAll('rt,rp,rtc')) part.remove();
  const base = escaped((copy.textContent ?? '').replace(/\s+/g, ' ').trim());
  return readings === '' ? base : `${base}(${escaped(readings)})`;
}

function formulaOf(element: HTMLElement): string {
  const tex = element.querySelector('annotation[encoding="application/x-tex"]')?.textContent ?? element.getAttribute('alttext');
  const words = (tex ?? element.textContent ?? '').replace(/\s+/g, ' ').trim();
  return words === '' ? '' : `$${words}$`;
}
