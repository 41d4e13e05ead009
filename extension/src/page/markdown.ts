// HTML to Markdown for a model: headings, lists, tables, code and links, no pictures.
import Turndown from 'turndown';

function cellText(cell: Element): string {
  return (cell.textContent ?? '').replace(/\s+/g, ' ').trim().replace(/\|/g, '\\|');
}

function tableOf(table: Element): string {
  const rows = [...table.querySelectorAll('tr')].map((row) => [...row.children].map(cellText));
  const width = Math.max(0, ...rows.map((row) => row.length));
  const [head, ...body] = rows.filter((row) => row.length > 0);
  if (!head || width === 0) return '';
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, at) => cells[at] ?? '').join(' | ')} |`;
  return [line(head), line(Array.from({ length: width }, () => '---')), ...body.map(line)].join('\n');
}

export function markdownOf(html: string, page: Document): string {
  const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' });
  service.addRule('tables', {
    filter: (node) => node.nodeName === 'TABLE' && !node.querySelector('table'),
    replacement: (_content, node) => `\n\n${tableOf(node as unknown as Element)}\n\n`,
  });
  service.addRule('pictures', {
    filter: ['img', 'picture', 'video', 'audio'],
    replacement: (_content, node) => {
      const alt = (node as unknown as Element).getAttribute('alt')?.trim();
      return alt ? `[image: ${alt}]` : '';
    },
  });
  service.addRule('links', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement: (content, node) => {
      const target = (node as unknown as Element).getAttribute('href') ?? '';
      const text = content.trim();
      if (text === '' || target.startsWith('#') || /^(javascript|data):/i.test(target)) return content;
      return `[${text}](${URL.canParse(target, page.baseURI) ? new URL(target, page.baseURI).href : target})`;
    },
  });
  service.remove(['button', 'input', 'select', 'textarea', 'form'] as (keyof HTMLElementTagNameMap)[]);
  return service.turndown(html).replace(/\n{3,}/g, '\n\n').trim();
}
