// @vitest-environment jsdom
// Events keep their order, and pieces of an answer are taken at the pace of the screen.
import { effect, signal } from '@preact/signals';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Inflow } from '../../src/panel/effects/inflow';

let frames: (() => void)[];
let taken: string[];
let inflow: Inflow<string>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  frames = [];
  taken = [];
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => frames.push(run));
  vi.stubGlobal('cancelAnimationFrame', (number: number) => void (frames[number - 1] = () => undefined));
  inflow = new Inflow<string>((event) => event.startsWith('piece'), (event) => taken.push(event));
});
const frame = (): void => frames.splice(0).forEach((run) => run());

describe('events', () => {
  test('that say something new are taken at once', () => {
    inflow.push('node');
    expect(taken).toEqual(['node']);
  });

  test('that are pieces wait for the frame, all together', () => {
    for (let at = 0; at < 200; at += 1) inflow.push(`piece ${at}`);
    expect([taken.length, frames.length]).toEqual([0, 1]);
    frame();
    expect(taken).toEqual(Array.from({ length: 200 }, (_, at) => `piece ${at}`));
  });

  test('keep their order: what cannot wait takes along what came before it', () => {
    inflow.push('piece 1');
    inflow.push('end');
    inflow.push('piece 2');
    expect(taken).toEqual(['piece 1', 'end']);
    frame();
    expect(taken).toEqual(['piece 1', 'end', 'piece 2']);
  });

  test('are taken in a hidden panel too, which has no frames', () => {
    inflow.push('piece');
    vi.advanceTimersByTime(99);
    expect(taken).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(taken).toEqual(['piece']);
  });

  test('of one frame make one change', () => {
    const text = signal('');
    let changes = 0;
    effect(() => {
      void text.value;
      changes += 1;
    });
    const growing = new Inflow<string>(() => true, (event) => (text.value += event));
    for (const word of ['a', 'b', 'c']) growing.push(word);
    frame();
    expect([text.value, changes]).toEqual(['abc', 2]);
  });
});
