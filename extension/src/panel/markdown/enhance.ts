// Colours code, sets formulas and adds copy buttons in a block that is done; the libraries come when first needed.
import type { HLJSApi } from 'highlight.js';
import { t } from '../i18n';

let highlighting: Promise<HLJSApi> | undefined;
let formulas: Promise<typeof import('katex').default> | undefined;

/** Longer code would make a long task; it stays plain. */
const LONGEST_COLOURED = 40_000;

export function enhance(element: HTMLElement): void {
  for (const frame of element.querySelectorAll('.code:not(:has(.copy-code))')) frame.append(copyButton());
  const codes = element.querySelectorAll<HTMLElement>('code[data-language]:not([data-done])');
  if (codes.length > 0) void colour([...codes]);
  const spans = element.querySelectorAll<HTMLElement>('.formula:not([data-done])');
  if (spans.length > 0) void typeset([...spans]);
}

function copyButton(): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy-code';
  button.textContent = t('copy');
  return button;
}

async function colour(codes: readonly HTMLElement[]): Promise<void> {
  highlighting ??= import('./languages').then((module) => module.default);
  const highlighter = await highlighting;
  for (const code of codes) {
    const language = code.dataset['language'] ?? '';
    const text = code.textContent ?? '';
    code.dataset['done'] = '1';
    if (!highlighter.getLanguage(language) || text.length > LONGEST_COLOURED) continue;
    // The library escapes the text; its output holds nothing but spans.
    code.innerHTML = highlighter.highlight(text, { language, ignoreIllegals: true }).value;
  }
}

async function typeset(spans: readonly HTMLElement[]): Promise<void> {
  formulas ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(([module]) => module.default);
  const katex = await formulas;
  for (const span of spans) {
    span.dataset['done'] = '1';
    katex.render(span.dataset['tex'] ?? '', span, {
      displayMode: span.dataset['display'] === '1',
      throwOnError: false,
      trust: false,
      maxSize: 20,
      maxExpand: 200,
    });
  }
}
