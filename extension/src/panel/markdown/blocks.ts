// Splits growing Markdown into blocks, so that a longer text makes only its last block anew.
import { type Token, type Tokens } from 'marked';
import { lexer } from './lexer';

export interface Block {
  /** The source of the block: equal source, equal picture. */
  readonly raw: string;
  readonly tokens: readonly Token[];
}

export interface Blocks {
  readonly source: string;
  readonly blocks: readonly Block[];
  /** How many of `blocks` more text cannot change, and where in `source` they end. */
  readonly settled: number;
  readonly settledEnd: number;
}

export const NO_BLOCKS: Blocks = { source: '', blocks: [], settled: 0, settledEnd: 0 };

const isSpace = (token: Token): boolean => token.type === 'space';

/**
 * The blocks of `source`. Where it continues `known`, only what lies behind its settled blocks is read again. All but
 * the last block are settled: a list, a quote or a table can still grow, what stands before it cannot.
 */
export function blocksOf(source: string, known: Blocks = NO_BLOCKS): Blocks {
  const continues = known.settledEnd > 0 && source.startsWith(known.source.slice(0, known.settledEnd));
  const from = continues ? known.settledEnd : 0;
  const before = continues ? known.blocks.slice(0, known.settled) : [];
  const tokens = lexer(source.slice(from)).filter((token) => !isSpace(token));
  const blocks = [...before, ...tokens.map((token): Block => ({ raw: token.raw, tokens: [token] }))];
  const settled = Math.max(before.length, blocks.length - 1);
  return { source, blocks, settled, settledEnd: endOf(source, from, tokens.slice(0, -1)) };
}

/** Where the given tokens end in the source; between them only blank lines were left out. */
function endOf(source: string, from: number, tokens: readonly Tokens.Generic[]): number {
  let end = from;
  for (const token of tokens) {
    const at = source.indexOf(token.raw, end);
    if (at < 0) return from;
    end = at + token.raw.length;
  }
  return end;
}
