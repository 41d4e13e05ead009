// A block's tokens as HTML that is safe to put into the panel.
import DOMPurify from 'dompurify';
import type { Block } from './blocks';
import { parse } from './lexer';

const ALLOWED = {
  ALLOWED_TAGS: [
    'a', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p',
    'pre', 'span', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['align', 'class', 'data-display', 'data-language', 'data-tex', 'href', 'rel', 'start', 'tabindex', 'target', 'title'],
  ALLOW_DATA_ATTR: false,
};

const made = new Map<string, string>();
const KEPT = 400;

export function htmlOf(block: Block): string {
  const known = made.get(block.raw);
  if (known !== undefined) return known;
  const html = DOMPurify.sanitize(parse(block.tokens), ALLOWED);
  if (made.size >= KEPT) made.delete(made.keys().next().value ?? '');
  made.set(block.raw, html);
  return html;
}
