// C4: `@` and the tabs that it may mean.
import { describe, expect, test } from 'vitest';
import { matching, mentionAt, without } from '../../src/panel/state/mention';

describe('an @ at the cursor', () => {
  test.each([
    ['@', 1, ''],
    ['@tab', 4, 'tab'],
    ['compare @tab', 12, 'tab'],
    ['compare @tab and', 12, 'tab'],
    ['比较，@潮', 5, '潮'],
    ['＠tab', 4, 'tab'],
  ])('“%s” at %i begins a mention of “%s”', (text, cursor, query) => {
    expect(mentionAt(text, cursor)).toEqual({ start: cursor - query.length - 1, end: cursor, query });
  });

  test.each([['me@example.org', 14], ['@tab ', 5], ['tab', 3], ['@a@b', 4], [`@${'x'.repeat(61)}`, 62]])('“%s” at %i does not', (text, cursor) => {
    expect(mentionAt(text, cursor)).toBeNull();
  });

  test('goes when it has been chosen', () => {
    expect(without('compare @tab and', { start: 8, end: 12, query: 'tab' })).toBe('compare  and');
  });
});

describe('the tabs', () => {
  const tabs = [
    { id: 1, title: 'About the tide', url: 'https://a.example/' },
    { id: 2, title: 'Tide tables', url: 'https://b.example/' },
    { id: 3, title: 'Café', url: 'https://tide.example/' },
    { id: 4, title: 'Other', url: 'https://c.example/' },
  ];
  const ids = (query: string): number[] => matching(tabs, query).map(({ id }) => id);

  test('whose title begins with the words come first, then titles, then addresses', () => expect(ids('TIDE')).toEqual([2, 1, 3]));
  test('are found without accents', () => expect(ids('cafe')).toEqual([3]));
  test('are all there without words', () => expect(ids('')).toEqual([1, 2, 3, 4]));
  test('are none where nothing matches', () => expect(ids('zzz')).toEqual([]));
});
