// E64: a page is scrolled, taken piece by piece and joined; what came before a fault is kept, and says that it is cut.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Picture, wholePicture } from '../../src/panel/capture/picture';

const WINDOW = { width: 400, height: 300 };
const SCALE = 2;
let page: { height: number; y: number; left: boolean; grows: number };
let tab: { id: number; windowId: number; active: boolean; url: string };
let drawn: { top: number; height: number }[];
/** What happens while the picture of this number is taken. */
let meanwhile: (number: number) => void;
let taken: number;

const strips = (): object => ({ left: 0, top: 0, width: WINDOW.width, height: WINDOW.height, fullHeight: page.height, windowWidth: WINDOW.width });

/** The page's end of the script: it scrolls no further than it goes. */
const inPage: Record<string, (y: number) => unknown> = {
  prepare: () => strips(),
  goTo: (y) => {
    page.y = Math.min(y, Math.max(0, page.height - WINDOW.height));
    page.height += page.grows;
    return { ...strips(), y: page.y };
  },
  leave: () => void (page.left = true),
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  meanwhile = () => undefined;
  taken = 0;
  page = { height: 1_000, y: 0, left: false, grows: 0 };
  tab = { id: 1, windowId: 1, active: true, url: 'https://a.example/' };
  drawn = [];
  let line: Promise<unknown> = Promise.resolve();
  vi.stubGlobal('navigator', { locks: { request: (_: string, work: () => Promise<unknown>) => (line = line.then(work, work)) } });
  vi.stubGlobal('chrome', {
    storage: { local: { get: async () => ({}) } },
    tabs: {
      get: async () => ({ ...tab }),
      captureVisibleTab: async () => {
        meanwhile((taken += 1));
        return 'data:image/png;base64,';
      },
    },
    scripting: {
      executeScript: async ({ args, files }: { args?: [string, number[]]; files?: string[] }) =>
        files ? [] : args ? [{ result: inPage[args[0]]?.(args[1][0] ?? 0) ?? null }] : [{ result: true }],
    },
  });
  vi.stubGlobal('createImageBitmap', async (_from: unknown, ...box: number[]) => ({
    width: box[2] ?? WINDOW.width * SCALE, height: box[3] ?? WINDOW.height * SCALE, close() {},
  }));
  vi.stubGlobal('OffscreenCanvas', class {
    constructor(readonly width: number, readonly height: number) {}
    getContext(): object {
      return { drawImage: (image: { height: number }, _x: number, top: number) => void drawn.push({ top, height: image.height }) };
    }
    async convertToBlob({ type }: { type: string }): Promise<Blob> {
      return new Blob(['x'], { type });
    }
  });
});

afterEach(() => vi.useRealTimers());

/** Lets the time pass that the browser wants between two pictures. */
async function take(signal?: AbortSignal): Promise<Picture> {
  let settled = false;
  const picture = wholePicture({ ...tab } as unknown as chrome.tabs.Tab & { id: number }, signal).finally(() => (settled = true));
  picture.catch(() => undefined);
  while (!settled) {
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(40);
  }
  return picture;
}
/** Every row of the picture comes from exactly one piece. */
const isSeamless = (height: number): boolean =>
  drawn.every(({ top }, at): boolean => top === (at === 0 ? 0 : (drawn[at - 1]?.top ?? 0) + (drawn[at - 1]?.height ?? 0))) &&
  (drawn.at(-1)?.top ?? 0) + (drawn.at(-1)?.height ?? 0) === height;

describe('a picture of a whole page', () => {
  test.each([200, 300, 301, 600, 1_000, 2_999])('%i high has no seam and no row twice', async (height) => {
    page.height = Math.max(height, WINDOW.height);
    const picture = await take();
    expect(picture).toMatchObject({ width: WINDOW.width * SCALE, height: page.height * SCALE });
    expect(picture.cut).toBeUndefined();
    expect(isSeamless(page.height * SCALE)).toBe(true);
    expect(page.left).toBe(true);
  });

  test.each([
    ['another tab comes to the front', (): void => void (tab.active = false), 'picture_tab'],
    ['the tab goes elsewhere', (): void => void (tab.url = 'https://b.example/'), 'picture_moved'],
  ] as const)('keeps what it has when %s', async (_, happens, cut) => {
    meanwhile = (number) => void (number === 3 && happens());
    const picture = await take();
    expect(picture).toMatchObject({ cut, height: 600 * SCALE });
    expect(isSeamless(600 * SCALE)).toBe(true);
    expect(page.left).toBe(true);
  });

  test('is none when the first piece is not of this tab', async () => {
    tab.active = false;
    await expect(take()).rejects.toMatchObject({ why: 'not_in_front' });
    expect(page.left).toBe(true);
  });

  test('of a page without end is as long as the page was, and says so', async () => {
    page.grows = 400;
    const picture = await take();
    expect(picture).toMatchObject({ cut: 'picture_grew', height: 1_000 * SCALE });
  });

  test('of a very long page ends where a picture may end', async () => {
    page.height = 100_000;
    const picture = await take();
    expect(picture.cut).toBe('picture_long');
    expect(picture.height).toBeLessThanOrEqual(24_000);
    expect(picture.height).toBeGreaterThan(24_000 - WINDOW.height * SCALE);
    expect(isSeamless(picture.height)).toBe(true);
  });

  test('that is stopped leaves the page as it was', async () => {
    const stop = new AbortController();
    meanwhile = (number) => number === 2 && stop.abort(new Error('stopped'));
    await expect(take(stop.signal)).rejects.toThrow('stopped');
    expect(page.left).toBe(true);
  });
});
