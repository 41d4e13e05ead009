// What is selected in this document, as Markdown; what stands in a field as it is.
import { markdownOf } from './markdown';

/** Empty when nothing is selected here. */
export function selectedText(): string {
  const field = document.activeElement;
  if (field?.matches('textarea,input:not([type=password])')) return inField(field as HTMLTextAreaElement);
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return '';
  const plain = selection.toString();
  // What is selected in a shadow tree is no range of the document.
  const ranges = Array.from({ length: selection.rangeCount }, (_, index) => selection.getRangeAt(index));
  const rich = ranges.map(markdownOfRange).filter((text) => text !== '').join('\n\n');
  return lettersOf(rich) >= lettersOf(plain) ? rich : plain.trim();
}

function inField({ value, selectionStart, selectionEnd }: HTMLTextAreaElement | HTMLInputElement): string {
  return value.slice(selectionStart ?? 0, selectionEnd ?? 0).trim();
}

const lettersOf = (text: string): number => text.replace(/[^\p{L}\p{N}]+/gu, '').length;

function markdownOfRange(range: Range): string {
  const around = range.commonAncestorContainer;
  const element = around.nodeType === Node.ELEMENT_NODE ? (around as Element) : around.parentElement;
  const code = element?.closest('pre');
  if (code) return fenced(range.toString());
  const shell = document.implementation.createHTMLDocument('');
  shell.body.append(shell.importNode(range.cloneContents(), true));
  // A list, a table or a row of one keeps its frame.
  const frame = element?.closest('ul,ol,table');
  if (frame && shell.body.querySelector(':scope > li,:scope > tr,:scope > tbody,:scope > td')) {
    const holder = shell.importNode(frame, false);
    holder.append(...shell.body.childNodes);
    shell.body.append(holder);
  }
  return markdownOf(shell.body, document);
}

function fenced(text: string): string {
  const code = text.replace(/^\n|\s+$/g, '');
  if (code === '' || !code.includes('\n')) return code;
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code}\n${fence}`;
}
