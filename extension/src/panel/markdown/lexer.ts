// Markdown as we read it: GitHub's, with formulas, line breaks kept, raw HTML shown as text.
import { Marked, type Token, type TokenizerAndRendererExtension, type Tokens } from 'marked';

function formula(level: 'block' | 'inline'): TokenizerAndRendererExtension {
  const name = level === 'block' ? 'formulaBlock' : 'formula';
  return {
    name,
    level,
    start: (source) => source.search(level === 'block' ? /\$\$|\\\[/ : /\$|\\\(/),
    tokenizer(source) {
      const match = level === 'block' ? displayed(source) : inline(source);
      return match ? { type: name, raw: match.raw, tex: match.tex, display: match.display } : undefined;
    },
    renderer: (token) => {
      const { tex, display } = token as unknown as { tex: string; display: boolean };
      return `<span class="formula" data-display="${display ? '1' : '0'}" data-tex="${escape(tex)}">${escape(tex)}</span>`;
    },
  };
}

interface Formula { raw: string; tex: string; display: boolean }

function displayed(source: string): Formula | null {
  const match = /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])(?:\s*(?:\n|$))/.exec(source);
  return match ? { raw: match[0], tex: (match[1] ?? match[2] ?? '').trim(), display: true } : null;
}

/** `$5 and $6` is money: a formula has no space inside its dollars and no digit after the second. */
function inline(source: string): Formula | null {
  const match = /^(?:\$\$([^$\n]+?)\$\$|\$(?!\s)((?:\\.|[^$\\\n])+?)(?<!\s)\$(?!\d)|\\\((.+?)\\\))/.exec(source);
  return match ? { raw: match[0], tex: (match[1] ?? match[2] ?? match[3] ?? '').trim(), display: match[1] !== undefined } : null;
}

export function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

const WEB = /^(https?:|mailto:)/i;

const marked = new Marked({
  gfm: true,
  breaks: true,
  extensions: [formula('block'), formula('inline')],
  renderer: {
    // What a model writes as HTML is shown, never run.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escape(text),
    code({ text, lang }: Tokens.Code) {
      const language = (lang ?? '').split(/\s/)[0] ?? '';
      return `<div class="code"><pre tabindex="0"><code data-language="${escape(language)}">${escape(text)}\n</code></pre></div>`;
    },
    link({ href, title, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      if (!WEB.test(href)) return text;
      const named = title ? ` title="${escape(title)}"` : '';
      return `<a href="${escape(href)}"${named} target="_blank" rel="noopener noreferrer">${text}</a>`;
    },
    // Pictures from elsewhere would tell that site that the answer was read: they are links.
    image({ href, text }: Tokens.Image) {
      if (!WEB.test(href)) return escape(text);
      return `<a class="picture" href="${escape(href)}" target="_blank" rel="noopener noreferrer">${escape(text || href)}</a>`;
    },
    table(token: Tokens.Table) {
      const row = (cells: Tokens.TableCell[]): string => `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>`;
      const body = token.rows.map(row).join('');
      return `<div class="table" tabindex="0"><table><thead>${row(token.header)}</thead><tbody>${body}</tbody></table></div>`;
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
});

export function lexer(source: string): Token[] {
  return marked.lexer(source);
}

export function parse(tokens: readonly Token[]): string {
  return marked.parser([...tokens]);
}
