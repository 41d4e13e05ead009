// E56, E57: text is well formed, and cut only between characters as people see them.
import { describe, expect, test } from 'vitest';
import { newId } from '../src/ids';
import { cutText, oneLine, wellFormed } from '../src/text';

describe('cutting', () => {
  test.each([
    ['abcdef', 3, 'abc'],
    ['abc', 3, 'abc'],
    ['abc', 0, ''],
    ['a😀b', 2, 'a'],
    ['a😀b', 3, 'a😀'],
    ['e\u0301e\u0301', 1, ''],
    ['e\u0301e\u0301', 3, 'e\u0301'],
    ['👩‍👩‍👧x', 7, ''],
    ['👩‍👩‍👧x', 8, '👩‍👩‍👧'],
    ['🇩🇪🇫🇷', 5, '🇩🇪'],
    ['漢字', 1, '漢'],
  ])('%s to %i', (text, limit, expected) => expect(cutText(text, limit)).toBe(expected));

  test('a very long text costs what its border costs', () => {
    const long = 'x'.repeat(5_000_000);
    expect(cutText(long, 200_000)).toHaveLength(200_000);
  });

  test('every cut of mixed text is well formed and a beginning of it', () => {
    const text = 'añ e\u0301😀👩‍👩‍👧 漢字 🇩🇪 \u0915\u094d\u0937 end';
    for (let limit = 0; limit <= text.length; limit += 1) {
      const cut = cutText(text, limit);
      expect(cut.isWellFormed() && text.startsWith(cut) && cut.length <= limit).toBe(true);
    }
  });
});

test('one line is one line, with an ellipsis where it was cut', () => {
  expect(oneLine('  a\n b\t c ', 10)).toBe('a b c');
  expect(oneLine('abcdefghij', 5)).toBe('abcd…');
});

test('lone surrogates are replaced wherever they are, everything else is as it was', () => {
  expect(wellFormed({ a: 'x\ud800', b: ['\udc00y', 1, null, { c: '😀\u0000\u2028' }] })).toEqual({
    a: 'x\ufffd', b: ['\ufffdy', 1, null, { c: '😀\u0000\u2028' }],
  });
});

describe('ids', () => {
  test('are UUIDs of version 7 that sort by time', () => {
    const early = newId(1_700_000_000_000);
    const late = newId(1_700_000_000_001);
    expect(early).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(early.slice(0, 13)).toBe('018bcfe5-6800');
    expect(early < late).toBe(true);
  });

  test('are all different', () => expect(new Set(Array.from({ length: 1_000 }, () => newId(5))).size).toBe(1_000));
});
