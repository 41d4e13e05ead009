// @vitest-environment jsdom
// Who moved the scroller: a person who reads further up, or rows that grow beneath the newest message.
import { describe, expect, it } from 'vitest';
import { isNear, movedUp, watchHands } from '../../src/panel/views/stickiness';

const end = { offset: 700, size: 1000, window: 300 };

describe('movedUp', () => {
  it('takes rows that grew for no scrolling', () => {
    expect(movedUp(end, { offset: 700, size: 1600, window: 300 }, false)).toBe(false);
  });

  it('takes an offset that changed along with the size for the rows, unless a hand was there', () => {
    const measured = { offset: 620, size: 1400, window: 300 };
    expect(movedUp(end, measured, false)).toBe(false);
    expect(movedUp(end, measured, true)).toBe(true);
  });

  it('believes an offset that changed alone', () => {
    expect(movedUp(end, { offset: 500, size: 1000, window: 300 }, false)).toBe(true);
  });

  it('does not count what stays near the end', () => {
    expect(movedUp(end, { offset: 660, size: 1000, window: 300 }, true)).toBe(false);
    expect(isNear({ offset: 660, size: 1000, window: 300 })).toBe(true);
    expect(isNear({ offset: 600, size: 1000, window: 300 })).toBe(false);
  });

  it('takes a window that became lower for no scrolling', () => {
    expect(movedUp(end, { offset: 690, size: 1000, window: 150 }, false)).toBe(false);
  });
});

describe('watchHands', () => {
  it('notices wheel and keys for a while, and a held bar until it is let go', () => {
    const scroller = document.createElement('div');
    document.body.append(scroller);
    const { handsOn, stop } = watchHands(scroller);
    expect(handsOn()).toBe(false);
    scroller.dispatchEvent(new Event('wheel'));
    expect(handsOn()).toBe(true);
    stop();

    const bar = watchHands(scroller);
    scroller.dispatchEvent(new Event('pointerdown'));
    expect(bar.handsOn()).toBe(true);
    document.dispatchEvent(new Event('pointerup'));
    expect(bar.handsOn()).toBe(true);
    bar.stop();
    const after = watchHands(scroller);
    after.stop();
    scroller.dispatchEvent(new Event('wheel'));
    expect(after.handsOn()).toBe(false);
  });
});
