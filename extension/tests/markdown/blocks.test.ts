// Growing text: block by block the same as read at once, and what is settled is not read again.
import { describe, expect, test } from 'vitest';
import { type Blocks, blocksOf, NO_BLOCKS } from '../../src/panel/markdown/blocks';
import { below, random } from '../support/random';

const TEXTS: readonly string[] = [
  'One paragraph.\n\nAnother one\nwith a line.\n\n# A heading\n\nEnd.',
  '- a\n- b\n\n  still b\n- c\n\nAfter.\n\n1. x\n2. y\n',
  '```python\ndef f():\n\n    return 1\n```\n\nText.\n\n~~~\nopen to the end\n\nof it',
  '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nText\n\n> quote\n> more\nlazy\n\n---\n\nEnd',
  'A formula:\n\n$$\nx^2\n$$\n\nand $y$ in a line.\n\n\\[ z \\]\n\nEnd.',
  '<div>\nhtml\n\n</div>\n\ntext **bold** `code` ~~del~~ https://example.org\n\nsetext\n======\n\nEnd',
  '漢字と仮名。\n\n中文段落。\n\n👩‍👩‍👧 emoji\n\nالعربية\n\nEnd.',
];
const raws = ({ blocks }: Blocks): string[] => blocks.map((block) => block.raw.trimEnd());

describe('text that grows', () => {
  test.each(TEXTS.flatMap((text, at) => [1, 2, 3].map((seed) => [at, seed, text] as const)))(
    'text %i, seed %i, ends in the same blocks as read at once',
    (_, seed, text) => {
      const next = random(seed);
      let known = NO_BLOCKS;
      for (let end = 0; end < text.length; ) {
        end = Math.min(text.length, end + 1 + below(next, 7));
        known = blocksOf(text.slice(0, end), known);
      }
      expect(raws(known)).toEqual(raws(blocksOf(text)));
    },
  );

  test('settled blocks stay the same objects, so their picture is not made again', () => {
    const before = blocksOf('First.\n\nSecond.\n\nThi');
    const after = blocksOf('First.\n\nSecond.\n\nThird, longer.', before);
    expect(after.blocks).toHaveLength(3);
    expect([after.blocks[0] === before.blocks[0], after.blocks[1] === before.blocks[1]]).toEqual([true, true]);
    expect(after.blocks[2]?.raw).toBe('Third, longer.');
  });

  test('another text begins anew', () => {
    const before = blocksOf('First.\n\nSecond.\n\nThird.');
    expect(raws(blocksOf('Other.\n\nText.', before))).toEqual(['Other.', 'Text.']);
  });

  test('nothing is no block', () => expect(blocksOf('').blocks).toEqual([]));

  test('a long answer costs what its last block costs, not what it is long', () => {
    const paragraph = 'A sentence about the tide and what lives in it. '.repeat(6);
    const long = `${paragraph}\n\n`.repeat(400);
    let known = blocksOf(long);
    let read = 0;
    for (let at = 1; at <= 200; at += 1) {
      const source = long + 'word '.repeat(at);
      read += source.length - known.settledEnd;
      known = blocksOf(source, known);
    }
    expect(long.length).toBeGreaterThan(100_000);
    expect(read / 200).toBeLessThan(2_000);
  });
});
