// E55: events above one message are joined from their parts, whatever comes between and in which order.
import { describe, expect, test } from 'vitest';
import type { WireMessage } from '../../src/protocol';
import { Parts } from '../../src/worker/parts';
import { below, random } from '../support/random';

function partsOf(event: WireMessage, id: string, count: number): WireMessage[] {
  const text = JSON.stringify(event);
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => ({
    type: 'part', id, index, count, data: text.slice(index * size, (index + 1) * size),
  }));
}
const event = (text: string): WireMessage => ({ type: 'result', submissionId: 's', data: { text } });

describe('parts', () => {
  test('an ordinary event passes', () => {
    const parts = new Parts();
    expect(parts.take(event('x'))).toEqual(event('x'));
    expect(parts.joining).toBe(false);
  });

  test('two events whose parts are mixed are both whole', () => {
    const parts = new Parts();
    const [one, two] = [partsOf(event('one'.repeat(99)), 'a', 3), partsOf(event('two'.repeat(99)), 'b', 3)];
    const mixed = [one[0], two[0], one[1], two[1], two[2], one[2]] as WireMessage[];
    expect(mixed.map((part) => parts.take(part)).filter(Boolean)).toEqual([event('two'.repeat(99)), event('one'.repeat(99))]);
    expect(parts.joining).toBe(false);
  });

  test('a part that comes twice counts once, one out of range not at all', () => {
    const parts = new Parts();
    const [first, second] = partsOf(event('hello'), 'a', 2) as [WireMessage, WireMessage];
    expect([parts.take(first), parts.take(first), parts.take({ ...second, index: 2 })]).toEqual([null, null, null]);
    expect(parts.take(second)).toEqual(event('hello'));
  });

  test('a port that ends leaves no half event for the next one', () => {
    const parts = new Parts();
    const [first, second] = partsOf(event('hello'), 'a', 2) as [WireMessage, WireMessage];
    parts.take(first);
    parts.clear();
    expect(parts.joining).toBe(false);
    expect(parts.take(second)).toBeNull();
  });

  test.each(Array.from({ length: 20 }, (_, seed) => [seed]))('any order joins to the same (seed %i)', (seed) => {
    const next = random(seed);
    const parts = new Parts();
    const all = partsOf(event('漢字😀'.repeat(40)), 'a', 2 + below(next, 9));
    const shuffled = all.map((part) => ({ part, at: next() })).toSorted((a, b) => a.at - b.at).map(({ part }) => part);
    const joined = shuffled.map((part) => parts.take(part));
    expect(joined.slice(0, -1).every((each) => each === null)).toBe(true);
    expect(joined.at(-1)).toEqual(event('漢字😀'.repeat(40)));
  });
});
