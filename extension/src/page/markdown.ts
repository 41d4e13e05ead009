// A document's elements to Markdown for a model and for reading again: headings, lists, tables, code and links.
import { APART } from './flatten';
import { inlineOf, isSilent, linkOf, paragraphOf, type Place } from './inline';
import { isData, tableOf } from './tables';

const BLOCKS: ReadonlySet<string> = new Set([
  'address', 'article', 'aside', 'blockquote', 'body', 'center', 'dd', 'details', 'dialog', 'dir', 'div', 'dl', 'dt', 'fieldset',
  'figcaption', 'figure', 'footer', 'form', 'frameset', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hgroup', 'hr', 'html', 'legend',
  'li', 'main', 'menu', 'nav', 'ol', 'p', 'pre', 'search', 'section', 'summary', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'ul',
]);
const BLOCK_SELECTOR = [...BLOCKS].join(',');
const GUTTER = /(^|[\s_-])(gutter|line-?no|line-?numbers?|lineno|rouge-gutter)([\s_-]|$)/i;

export function markdownOf(source: Element | string, place: Place): string {
  const root = typeof source === 'string' ? new DOMParser().parseFromString(source, 'text/html').body : source;
  return blocksOf(root, place).join('\n\n');
}

/** The blocks of an element, without blank lines between them. */
function blocksOf(parent: Element, place: Place): string[] {
  const blocks: string[] = [];
  let run: Node[] = [];
  const flush = (): void => {
    const text = paragraphOf(inlineOf(run, place));
    run = [];
    if (text !== '') blocks.push(lineStart(text));
  };
  for (const child of parent.childNodes) {
    const element = child.nodeType === Node.ELEMENT_NODE ? (child as HTMLElement) : null;
    if (element && isSilent(element)) continue;
    if (!element || !isBlock(element)) {
      run.push(child);
      continue;
    }
    flush();
    for (const block of blockOf(element, place)) blocks.push(block);
  }
  flush();
  return blocks;
}

/** Elements that flow with the text are blocks too where they hold some. */
function isBlock(element: Element): boolean {
  if (BLOCKS.has(element.localName)) return true;
  if (element.localName.includes('-') && element.hasAttribute(APART)) return true;
  return element.firstElementChild !== null && element.querySelector(BLOCK_SELECTOR) !== null;
}

/** A paragraph that begins like a heading, a quotation or a list is none. */
function lineStart(text: string): string {
  return text.replace(/^(#{1,6}(?= )|>|[-+](?= )|\d{1,9}(?=[.)] ))/gm, (mark) => (/\d/.test(mark) ? `${mark}\\` : `\\${mark}`));
}

function blockOf(element: HTMLElement, place: Place): string[] {
  switch (element.localName) {
    case 'h1':
    case 'h2':
    case 'h3':
    case 'h4':
    case 'h5':
    case 'h6':
      return headingOf(element, place);
    case 'hr':
      return ['---'];
    case 'pre':
      return fenceOf(element);
    case 'blockquote':
      return quoted(blocksOf(element, place));
    case 'ul':
    case 'ol':
    case 'menu':
    case 'dir':
      return listOf(element, place);
    case 'dt':
      return blocksOf(element, place).map((text) => (/[*\n]/.test(text) ? text : `**${text}**`));
    case 'table':
      return isData(element as HTMLTableElement) ? tableOf(element as HTMLTableElement, place) : blocksOf(element, place);
    case 'a':
      return linked(blocksOf(element, place), element, place);
    case 'td':
    case 'th':
      return GUTTER.test(element.className) ? [] : blocksOf(element, place);
  }
  return blocksOf(element, place);
}

function headingOf(element: HTMLElement, place: Place): string[] {
  const text = paragraphOf(inlineOf(element.childNodes, place)).replace(/\n+/g, ' ');
  return text === '' ? [] : [`${'#'.repeat(Number(element.localName[1]))} ${text}`];
}

function quoted(blocks: readonly string[]): string[] {
  return blocks.length === 0 ? [] : [blocks.join('\n\n').replace(/^/gm, '> ').replace(/^> $/gm, '>')];
}

/** A card that is one link: its first line carries the address. */
function linked(blocks: readonly string[], anchor: Element, place: Place): string[] {
  const [first = '', ...rest] = blocks;
  const [, mark = '', words = ''] = /^(#{1,6} )?([^]*)$/.exec(first) ?? [];
  if (words === '' || /[[\n|]/.test(words)) return [...blocks];
  return [`${mark}${linkOf(words, anchor, place)}`, ...rest];
}

function listOf(list: HTMLElement, place: Place): string[] {
  const ordered = list.localName === 'ol';
  let number = (list as HTMLOListElement).start || 1;
  const items: string[] = [];
  for (const child of list.children) {
    if (isSilent(child)) continue;
    // Lists stand directly in lists on many pages: they belong to the item before.
    const isItem = child.localName === 'li';
    const blocks = isItem ? blocksOf(child, place) : blockOf(child as HTMLElement, place);
    if (blocks.length === 0) continue;
    if (isItem && ordered && child.hasAttribute('value')) number = (child as HTMLLIElement).value;
    const mark = ordered ? `${number}. ` : '- ';
    const pad = ' '.repeat(mark.length);
    const body = joined(blocks).replace(/\n(?=[^\n])/g, `\n${pad}`);
    if (!isItem && items.length > 0) items.push(`${pad}${body}`);
    else items.push(`${mark}${body}`);
    if (isItem && ordered) number += 1;
  }
  return items.length === 0 ? [] : [items.join('\n')];
}

const STARTS_LIST = /^(- |\d+\. )/;

/** A list right under the words of its item; paragraphs apart. */
function joined(blocks: readonly string[]): string {
  return blocks.reduce((text, block) => `${text}${STARTS_LIST.test(block) ? '\n' : '\n\n'}${block}`);
}

function fenceOf(pre: HTMLElement): string[] {
  const code = verbatim(pre).replace(/^\n|\s+$/g, '');
  if (code === '') return [];
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${languageOf(pre)}\n${code}\n${fence}`];
}

function verbatim(node: Node): string {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue ?? '';
  if (node.nodeType !== Node.ELEMENT_NODE) return '';
  const element = node as HTMLElement;
  if (element.localName === 'br') return '\n';
  if (isSilent(element) || GUTTER.test(element.className)) return '';
  const text = [...element.childNodes].map(verbatim).join('');
  // Some pages write each line of code as a block.
  return element.matches('div,p,li,tr') && !text.endsWith('\n') ? `${text}\n` : text;
}

function languageOf(pre: HTMLElement): string {
  const near = [pre.querySelector('code'), pre, pre.parentElement, pre.parentElement?.parentElement];
  for (const element of near) {
    const [, language] = /(?:^|\s)(?:language|lang|highlight-source|brush)[-:]\s*([\w+#.-]+)/i.exec(element?.className ?? '') ?? [];
    if (language) return language.toLowerCase();
  }
  return '';
}
