// A table as Markdown; a table that only lays the page out is none.
import { inlineOf, paragraphOf, type Place } from './inline';

const BLOCKS = 'p + p,ul,ol,pre,blockquote,h1,h2,h3,h4,h5,h6,table';
const COLUMNS_AT_MOST = 60;

const rowsOf = (table: HTMLTableElement): HTMLTableRowElement[] =>
  [...table.querySelectorAll('tr')].filter((row) => row.closest('table') === table);

export function isData(table: HTMLTableElement): boolean {
  if (/^(presentation|none)$/.test(table.getAttribute('role') ?? '')) return false;
  if (table.querySelector('table,pre,h1,h2,h3,h4,h5,h6')) return false;
  const rows = rowsOf(table);
  const widest = Math.max(0, ...rows.map((row) => row.cells.length));
  if (rows.length === 0 || widest < 2) return false;
  return table.querySelector('th') !== null || rows.length > 1 || table.querySelector(BLOCKS) === null;
}

export function tableOf(table: HTMLTableElement, place: Place): string[] {
  const grid = gridOf(table, place).filter((row) => row.some((cell) => cell !== ''));
  const width = Math.max(0, ...grid.map((row) => row.length));
  const [head, ...body] = grid;
  const caption = table.caption ? paragraphOf(inlineOf(table.caption.childNodes, place)) : '';
  if (!head) return caption === '' ? [] : [caption];
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, at) => cells[at] ?? '').join(' | ')} |`;
  const text = [line(head), line(Array.from({ length: width }, () => '---')), ...body.map(line)].join('\n');
  return caption === '' ? [text] : [caption, text];
}

/** What spans several columns stands in the first of them; what spans rows is said in each. */
function gridOf(table: HTMLTableElement, place: Place): string[][] {
  const above: { text: string; rows: number }[] = [];
  return rowsOf(table).map((row) => {
    const cells: string[] = [];
    const carry = (): void => {
      for (let kept = above[cells.length]; kept && kept.rows > 0; kept = above[cells.length]) {
        kept.rows -= 1;
        cells.push(kept.text);
      }
    };
    for (const cell of row.cells) {
      carry();
      const text = cellText(cell, place);
      const columns = Math.min(Math.max(1, cell.colSpan), COLUMNS_AT_MOST);
      for (let column = 0; column < columns && cells.length < COLUMNS_AT_MOST; column += 1) {
        above[cells.length] = { text: column === 0 ? text : '', rows: Math.max(1, cell.rowSpan) - 1 };
        cells.push(column === 0 ? text : '');
      }
    }
    carry();
    return cells;
  });
}

function cellText(cell: HTMLTableCellElement, place: Place): string {
  return paragraphOf(inlineOf(spaced(cell), place)).replace(/\s*\n\s*/g, ' ').replace(/\|/g, '\\|');
}

/** Blocks in a cell stand on one line, with a blank between them. */
function* spaced(cell: Element): Generator<Node> {
  for (const child of cell.childNodes) {
    const isBlock = child.nodeType === Node.ELEMENT_NODE && (child as Element).matches('p,div,ul,ol,li,section');
    if (!isBlock) {
      yield child;
      continue;
    }
    yield cell.ownerDocument.createTextNode(' ');
    yield* spaced(child as Element);
    yield cell.ownerDocument.createTextNode(' ');
  }
}
